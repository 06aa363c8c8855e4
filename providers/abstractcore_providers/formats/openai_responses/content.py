"""Content parts of messages and tool results, written."""

from __future__ import annotations

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import AudioPart, Blob, CachePoint, DocumentPart, ImagePart, Part, TextPart

from ...common.call_options import fields_for
from ...common.data_urls import data_url, kept_id, write_url
from ...common.reading import Object
from ...common.sounds import AUDIO_FORMATS, write_audio

_OFFICE = "application/vnd.openxmlformats-officedocument"
_NAMES = {
    "application/pdf": "document.pdf",
    "application/msword": "document.doc",
    f"{_OFFICE}.wordprocessingml.document": "document.docx",
    "application/vnd.oasis.opendocument.text": "document.odt",
    "application/rtf": "document.rtf",
    "application/vnd.ms-powerpoint": "document.ppt",
    f"{_OFFICE}.presentationml.presentation": "document.pptx",
    "application/vnd.ms-excel": "document.xls",
    f"{_OFFICE}.spreadsheetml.sheet": "document.xlsx",
}
"""The names of files without one: the provider reads the type from the extension."""
USER_FIELDS = frozenset({"type", "id", "role", "status", "content"})
OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "status", "output"})
"""The fields of a user's message and of a call's result that the schema models."""
CONTENT_FIELDS: dict[str, frozenset[str]] = {
    "input_text": frozenset({"type", "text", "prompt_cache_breakpoint"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"}),
    "input_file": frozenset({"type", "filename", "file_data", "file_url", "file_id", "prompt_cache_breakpoint"}),
    "input_audio": frozenset({"type", "input_audio"}),
}
"""The fields of each type of content that the schema models."""
CONTENT_TYPES: dict[type[Part], str] = {
    TextPart: "input_text",
    ImagePart: "input_image",
    DocumentPart: "input_file",
    AudioPart: "input_audio",
}
_TTL_SECONDS = {1800: "30m", 43200: "12h"}
TTL_NAMES = {name: seconds for seconds, name in _TTL_SECONDS.items()}


def write_content(part: Part, path: str, provider: str) -> Object:
    """Returns a text or media part; raises `UnsupportedContentError` with its path for unsupported content."""
    return {"type": CONTENT_TYPES.get(type(part)), **_content(part, path, provider), **fields_for(part, provider)}


def _content(part: Part, path: str, provider: str) -> Object:
    if isinstance(part, TextPart):
        return {"text": part.text, **breakpoint_of(part.cache)}
    if isinstance(part, ImagePart):
        detail: Object = {} if part.detail is None else {"detail": part.detail}
        return {**image_address(part, path, provider), **detail, **breakpoint_of(part.cache)}
    if isinstance(part, AudioPart) and part.blob.media_type in AUDIO_FORMATS:
        return {"input_audio": write_audio(part.blob, path)}
    if isinstance(part, DocumentPart):
        return {**_file(part.blob, path, provider), **breakpoint_of(part.cache)}
    what = part.blob.media_type if isinstance(part, AudioPart) else part.type
    raise UnsupportedContentError(
        f"{path}: the Responses format does not support {what}.",
        hint="It supports text, images, documents, and WAV and MP3 audio.",
    )


def image_address(part: ImagePart, path: str, provider: str) -> Object:
    """Returns the fields of an image: a file stored by the provider, a URL, or the image itself as a data URL."""
    kept = kept_id(part.blob, provider, path)
    return {"image_url": write_url(part.blob, path)} if kept is None else {"file_id": kept}


def can_be_kept_for(ttl: int | None) -> bool:
    """Whether the format supports this TTL."""
    return ttl is None or ttl in _TTL_SECONDS


def breakpoint_of(cache: CachePoint | None) -> Object:
    """Returns the field for a cache point."""
    if cache is None:
        return {}
    ttl: Object = {} if cache.ttl is None else {"ttl": _TTL_SECONDS[cache.ttl]}
    return {"prompt_cache_breakpoint": {"mode": "explicit", **ttl}}


def _file(blob: Blob, path: str, provider: str) -> Object:
    if blob.form == "url":
        return {"file_url": blob.location}
    kept = kept_id(blob, provider, path)
    if kept is not None:
        return {"file_id": kept}
    return {"filename": blob.name or _NAMES.get(blob.media_type, "document.txt"), "file_data": data_url(blob, path)}
