"""Content in JSON as base64 and data URLs (RFC 2397), written and read.

Media types that formats with one vendor can send. Offsets in texts: characters in the schema, bytes of UTF-8 on the
wire of Google's APIs.

Each set names its source. Those of other vendors are in the headers of the catalogue. That a GIF must not be animated,
as some vendors require, is not checked.
"""

from __future__ import annotations

import base64
import mimetypes
from typing import Any, Final

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import MEDIA_PART_BY_KIND, Blob, MediaPart, media_kind_of
from abstractcore.schema.base_error import shown_address

from .reading import get_text

_PDF: Final = "application/pdf"
_LONGEST_SCHEME: Final = 64


def write_url(blob: Blob, path: str) -> str:
    """Returns the content's URL if it has one, else the content as a data URL."""
    return blob.location if blob.form == "url" and blob.location else data_url(blob, path)


def data_url(blob: Blob, path: str) -> str:
    """Returns the content as a data URL."""
    return f"data:{blob.media_type};base64,{write_base64(blob, path)}"


def write_base64(blob: Blob, path: str) -> str:
    """Returns the content as base64; raises `UnsupportedContentError` with its path if the bytes are not available."""
    return base64.b64encode(content_of(blob, path)).decode("ascii")


def content_of(blob: Blob, path: str) -> bytes:
    """Returns the bytes; raises `UnsupportedContentError` with their path if they are not available."""
    if blob.form not in ("bytes", "file"):
        location = f"{blob.form.replace('_', ' ')} {shown_address(blob.location or blob.sha256 or '')}"
        raise UnsupportedContentError(
            f"{path}: the content is {location}, whose bytes are not available.",
            hint="Pass the file itself.",
        )
    return blob.read()


def kept_id(blob: Blob, provider: str, path: str) -> str | None:
    """Returns the id of a file stored by the provider; None for other content.

    Raises `UnsupportedContentError` with the path of a file stored by another provider.
    """
    if blob.form != "provider_file":
        return None
    if blob.provider != provider:
        raise UnsupportedContentError(f"{path}: the file is stored by {blob.provider!r}, not by {provider!r}.")
    return blob.location


def read_url(value: Any, media_type: str, path: str, name: str | None = None) -> Blob:
    """Reads a client's URL as a blob; `media_type` is the default for URLs that do not state it."""
    url = get_text(value, path)
    if not url:
        raise InvalidInputError("is empty", path=path)
    if url[:5].lower() != "data:":
        return Blob.from_url(url, media_type, name=name)
    header, comma, data = url[5:].partition(",")
    type_, _, encoding = header.rpartition(";")
    if not comma or encoding.strip().lower() != "base64":
        raise InvalidInputError("expected a data URL, data:TYPE;base64,DATA", path=path)
    return Blob.from_bytes(read_base64(data, path), type_.partition(";")[0].strip() or media_type, name=name)


def read_file_data(value: Any, path: str, name: str | None = None) -> Blob:
    """Reads the field `file_data` of OpenAI's APIs: a data URL, as in their examples, or base64 alone, as in their
    description. The type of base64 is that of the file's name, by default PDF.
    """
    text = get_text(value, path)
    if not text or ":" in text[:_LONGEST_SCHEME]:
        return read_url(text, _PDF, path, name)
    return Blob.from_bytes(read_base64(text, path), mimetypes.guess_type(name or "")[0] or _PDF, name=name)


def file_part(blob: Blob) -> MediaPart:
    """Returns the part for a client's file, which may be of any kind: its media type decides."""
    return MEDIA_PART_BY_KIND[media_kind_of(blob.media_type)](blob)


def read_base64(value: Any, path: str) -> bytes:
    """Decodes a client's base64; raises `InvalidInputError` with its path if it is invalid."""
    data = get_text(value, path)
    try:
        return base64.b64decode(data, validate=True)
    except ValueError as error:
        raise InvalidInputError(f"not base64: {error}", path=path) from None


_PNG, _JPEG, _WEBP, _GIF = "image/png", "image/jpeg", "image/webp", "image/gif"

COHERE_IMAGES = frozenset({_PNG, _JPEG, _WEBP, _GIF})
"""docs.cohere.com/docs/image-inputs, "File Types"."""
OLLAMA_IMAGES = frozenset({_PNG, _JPEG, _WEBP})
"""From its own client: `getImageData` in cmd/interactive.go of ollama/ollama."""

GEMINI_IMAGES = frozenset({_PNG, _JPEG, _WEBP, "image/heic", "image/heif"})
"""ai.google.dev/gemini-api/docs/image-understanding, "Supported image formats"."""
GEMINI_AUDIO = frozenset(
    {
        "audio/aac",
        "audio/aiff",
        "audio/flac",
        "audio/l16",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/pcm",
        "audio/wav",
        "audio/webm",
    }
)
"""ai.google.dev/gemini-api/docs/audio; for MP4, PCM and WebM firebase.google.com/docs/ai-logic/input-file-requirements;
and L16, which the API itself gives.
"""
GEMINI_VIDEO = frozenset(
    {
        "video/3gpp",
        "video/avi",
        "video/mov",
        "video/mp4",
        "video/mpeg",
        "video/mpg",
        "video/quicktime",
        "video/webm",
        "video/wmv",
        "video/x-flv",
        "video/x-ms-wmv",
        "video/x-msvideo",
    }
)
"""ai.google.dev/gemini-api/docs/video-understanding, "Supported video formats", under the names there and in use."""

INTERACTIONS_IMAGES = GEMINI_IMAGES | {_GIF, "image/bmp", "image/tiff"}
INTERACTIONS_AUDIO = frozenset(
    {
        "audio/aac",
        "audio/aiff",
        "audio/alaw",
        "audio/flac",
        "audio/l16",
        "audio/m4a",
        "audio/mp3",
        "audio/mp4",
        "audio/mpeg",
        "audio/mulaw",
        "audio/ogg",
        "audio/opus",
        "audio/wav",
        "audio/webm",
    }
)
"""`ImageContentMimeType` and `AudioContentMimeType` in the google-genai package 3.4; MP4 audio is M4A."""

GEMINI_OFFICE = frozenset(
    {
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    }
)
"""docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides, the guide to Gemini 4 Carbon."""


def characters_in(text: str, size: int) -> int:
    """Returns how many characters the first `size` bytes of `text` are; beyond its end a byte counts as one."""
    if text.isascii():
        return size
    data = text.encode("utf-8", "surrogatepass")
    return len(data[:size].decode("utf-8", "ignore")) + max(0, size - len(data))


def bytes_of(text: str, count: int) -> int:
    """Returns how many bytes the first `count` characters of `text` are; beyond its end a character counts as one."""
    return len(text[:count].encode("utf-8", "surrogatepass")) + max(0, count - len(text))
