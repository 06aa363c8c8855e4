"""Images, audio, video and documents, written and read.

The fields that the schema models: all others of media, calls and results are their provider options.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import AudioPart, Blob, CallWarning, DocumentPart, ImagePart, MediaPart, VideoPart
from abstractcore.schema.base_error import shown_address

from ...common.call_options import fields_for, read_options
from ...common.data_urls import read_base64
from ...common.reading import Object, get_filled, get_object, get_text, name_the_rest, text_of
from .vocabulary import PROVIDER

BLOCK_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "image": frozenset({"format", "source"}),
        "document": frozenset({"format", "name", "source"}),
        "video": frozenset({"format", "source"}),
        "audio": frozenset({"format", "source"}),
        "tool_call": frozenset({"toolUseId", "name", "input", "type"}),
        "tool_result": frozenset({"toolUseId", "content", "status"}),
    }
)
"""By the type of a part. Texts are not objects here, and have no options."""


_OFFICE = "application/vnd.openxmlformats-officedocument"
_FORMATS: dict[str, dict[str, str]] = {
    "image": {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": f"{_OFFICE}.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mp4": "video/mp4",
        "mov": "video/quicktime",
        "mkv": "video/x-matroska",
        "webm": "video/webm",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "mpg": "video/mpeg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "mpeg": "audio/mpeg",
        "mpga": "audio/mpeg",
        "wav": "audio/wav",
        "flac": "audio/flac",
        "ogg": "audio/ogg",
        "opus": "audio/opus",
        "aac": "audio/aac",
        "x-aac": "audio/aac",
        "m4a": "audio/x-m4a",
        "mp4": "audio/mp4",
        "mka": "audio/x-matroska",
        "mkv": "audio/x-matroska",
        "pcm": "audio/pcm",
        "webm": "audio/webm",
    },
}
"""The media type of each format; a type is written as its first format."""
ENCODABLE = frozenset(type_ for kind in ("image", "document", "video") for type_ in _FORMATS[kind].values())
"""The files that are sent to models of which it is not known what they accept."""
_PARTS: dict[str, type[ImagePart | DocumentPart | VideoPart | AudioPart]] = {
    "image": ImagePart,
    "document": DocumentPart,
    "video": VideoPart,
    "audio": AudioPart,
}
MEDIA_KINDS = frozenset(_PARTS)


def check_media(part: MediaPart, path: str) -> None:
    """Raises `UnsupportedContentError` with its path for content that the format does not support."""
    blob = part.blob
    if blob.media_type not in _FORMATS[part.type].values():
        raise UnsupportedContentError(
            f"{path}: the Converse format does not support {blob.media_type} as {part.type}.",
            hint=f"It supports {', '.join(dict.fromkeys(_FORMATS[part.type].values()))}.",
        )
    if not _is_in_s3(blob) and blob.form not in ("bytes", "file"):
        location = f"{blob.form.replace('_', ' ')} {shown_address(blob.location or blob.sha256 or '')}"
        raise UnsupportedContentError(
            f"{path}: the content is {location}, whose bytes are not available.",
            hint="Pass the file itself, or a URL that begins with s3://.",
        )
    if blob.size == 0:
        raise UnsupportedContentError(f"{path}: the {part.type} is empty, which the Converse format does not support.")


def write_media(part: MediaPart, name: str = "") -> Object:
    """Returns the block of a part that was checked; `name` is a document's."""
    blob = part.blob
    formats = _FORMATS[part.type]
    source: Object = {"s3Location": {"uri": blob.location}} if _is_in_s3(blob) else {"bytes": in_base64(blob.read())}
    body: Object = {"format": next(f for f, type_ in formats.items() if type_ == blob.media_type)}
    if name:
        body["name"] = name
    return {part.type: {**body, "source": source, **fields_for(part, PROVIDER)}}


def _is_in_s3(blob: Blob) -> bool:
    return blob.form == "url" and (blob.location or "").startswith("s3://")


def in_base64(data: bytes) -> str:
    """Returns `data` as JSON."""
    return base64.b64encode(data).decode("ascii")


def read_media(kind: str, value: Any, path: str, warnings: list[CallWarning]) -> MediaPart:
    """Reads the part in a block of a kind of media; raises `InvalidInputError` with the path of what is wrong."""
    data = get_object(value, path)
    source = get_object(data.get("source"), f"{path}.source")
    format_ = text_of(data, "format")
    if format_ is None and kind == "document" and "text" in source:
        format_ = "txt"
    media_type = _FORMATS[kind].get(format_ or "")
    if media_type is None:
        raise InvalidInputError(f"unknown format {data.get('format')!r}", path=f"{path}.format")
    blob = _blob(source, media_type, text_of(data, "name"), f"{path}.source", warnings)
    return _PARTS[kind](blob, provider_options=read_options(data, BLOCK_FIELDS[kind], PROVIDER))


def _blob(source: Object, media_type: str, name: str | None, path: str, warnings: list[CallWarning]) -> Blob:
    if "bytes" in source:
        return Blob.from_bytes(read_base64(source["bytes"], f"{path}.bytes"), media_type, name=name)
    if "s3Location" in source:
        s3_location = get_object(source["s3Location"], f"{path}.s3Location")
        name_the_rest(s3_location, frozenset({"uri"}), f"{path}.s3Location", warnings)
        return Blob.from_url(get_filled(s3_location.get("uri"), f"{path}.s3Location.uri"), media_type, name=name)
    if media_type.startswith("text/") and "text" in source:
        return Blob.from_bytes(get_text(source["text"], f"{path}.text").encode(), media_type, name=name)
    raise InvalidInputError("expected bytes or an s3Location", path=path)
