"""Media, written and read: inline bytes, or the URI of a file."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    DocumentPart,
    ImagePart,
    MediaPart,
    MediaResolution,
    SchemaError,
    VideoPart,
)

from ...common.call_options import read_options, with_options
from ...common.data_urls import GEMINI_AUDIO, GEMINI_IMAGES, GEMINI_OFFICE, GEMINI_VIDEO
from ...common.google_files import (
    blob_at,
    check_blob,
    file_uri,
    from_base64,
    read_clip,
    to_base64,
    with_controls,
    write_controls,
)
from ...common.reading import Object, as_object, object_of, text_of
from .vocabulary import WARNINGS, with_names

ENCODABLE = GEMINI_IMAGES | GEMINI_AUDIO | GEMINI_VIDEO | GEMINI_OFFICE | {"application/pdf"}
"""The files that models of this format read."""
_FIELDS = frozenset({"inlineData", "fileData", "thought", "thoughtSignature"})
_CLIP = {"start": "startOffset", "end": "endOffset", "fps": "fps"}
_LEVELS: dict[MediaResolution, str] = {
    "low": "MEDIA_RESOLUTION_LOW",
    "medium": "MEDIA_RESOLUTION_MEDIUM",
    "high": "MEDIA_RESOLUTION_HIGH",
}
_RESOLUTIONS: dict[str, MediaResolution] = {level: name for name, level in _LEVELS.items()}

_PARTS: dict[str, type[MediaPart]] = {"image": ImagePart, "audio": AudioPart, "video": VideoPart}


def write_media(part: MediaPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns an `inlineData` or `fileData` part; raises `UnsupportedContentError` with its path for unsupported
    content.
    """
    blob = part.blob
    if kind_of(blob.media_type) is not type(part):
        raise UnsupportedContentError(f"{path}: {blob.media_type} cannot be sent as {part.type}.")
    check_blob(blob, path, provider)
    WARNINGS.fields(part, path, ("detail", "transcript", "id"), warnings)
    clip, resolution = write_controls(part, path, _CLIP, WARNINGS, warnings)
    controls: Object = {"videoMetadata": clip} if clip else {}
    if resolution is not None:
        controls["mediaResolution"] = {"level": _LEVELS[resolution]}
    uri = file_uri(blob, path, provider, warnings)
    if uri is None:
        body: Object = {"inlineData": {"mimeType": blob.media_type, "data": to_base64(blob)}}
    else:
        body = {"fileData": {"mimeType": blob.media_type, "fileUri": uri}}
    return with_options({**body, **controls}, part, path, provider, _FIELDS, warnings)


def kind_of(media_type: str) -> type[MediaPart]:
    """Returns the class of part for a media type: a document if it is not image, audio or video."""
    return _PARTS.get(media_type.partition("/")[0], DocumentPart)


def read_media(data: Object, provider: str) -> MediaPart:
    """Reads the part in `inlineData` or `fileData`; raises `SchemaError` for invalid base64, or without a URI."""
    blob = _inline(data["inlineData"]) if "inlineData" in data else _kept(data["fileData"], provider)
    kind = kind_of(blob.media_type)
    clip = read_clip(with_names(object_of(data, "videoMetadata")), _CLIP) if kind is VideoPart else None
    resolution = None if kind is AudioPart else _read_resolution(data.get("mediaResolution"))
    read = {"videoMetadata": clip, "mediaResolution": resolution}
    known = _FIELDS | {name for name, found in read.items() if found}
    options = read_options(data, known, provider)
    return kind(blob, provider_options=options, controls=with_controls(clip, resolution))


def _read_resolution(value: Any) -> MediaResolution | None:
    data = as_object(value)
    return _RESOLUTIONS.get(text_of(data, "level") or "") if data.keys() == {"level"} else None


def _inline(value: Any) -> Blob:
    inline = with_names(as_object(value))
    return Blob.from_bytes(from_base64(inline.get("data"), "inlineData.data"), _media_type(inline))


def _kept(value: Any, provider: str) -> Blob:
    file = with_names(as_object(value))
    uri = text_of(file, "fileUri")
    if not uri:
        raise SchemaError("expected text", "fileData.fileUri")
    return blob_at(uri, _media_type(file), provider)


def _media_type(data: Object) -> str:
    return text_of(data, "mimeType") or "application/octet-stream"
