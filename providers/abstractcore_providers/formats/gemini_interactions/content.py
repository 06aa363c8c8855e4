"""Text and media in steps, written and read."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    ImagePart,
    MediaPart,
    MediaResolution,
    OpaquePart,
    ProviderOptions,
    SchemaError,
    TextPart,
    VideoPart,
)

from ...common.call_options import read_options, with_options
from ...common.data_urls import GEMINI_OFFICE, GEMINI_VIDEO, INTERACTIONS_AUDIO, INTERACTIONS_IMAGES
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
from ...common.reading import Object, object_of, text_of
from .citations import read_annotations, write_annotations
from .vocabulary import WARNINGS

ENCODABLE = INTERACTIONS_IMAGES | INTERACTIONS_AUDIO | GEMINI_VIDEO | GEMINI_OFFICE | {"application/pdf", "text/csv"}
"""The files that the format accepts: the content types of Interactions in the google-genai package 3.4."""
_MEDIA: dict[str, type[MediaPart]] = {
    "image": ImagePart,
    "audio": AudioPart,
    "video": VideoPart,
    "document": DocumentPart,
}
CONTENT_TYPES = frozenset({"text", *_MEDIA})
TEXT_FIELDS = frozenset({"type", "text", "annotations"})
_MEDIA_FIELDS = frozenset({"type", "data", "uri", "mime_type"})
_RESOLUTIONS = get_args(MediaResolution)
_CLIP = {"start": "start_offset", "end": "end_offset", "fps": "fps"}
_ANY_TYPES = {"image": "image/*", "audio": "audio/*", "video": "video/*", "document": "application/octet-stream"}
OPAQUE = "content."
"""The prefix of the kind of an opaque part that is content of a step, instead of a step of its own."""


def write_text(part: TextPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns a text with its options, and citations that `fit_citations` returned."""
    data: Object = {"type": "text", "text": part.text}
    if part.citations:
        data["annotations"] = write_annotations(part)
    return with_options(data, part, path, provider, TEXT_FIELDS, warnings)


def write_plain_text(part: TextPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns a text with its options, with a warning for citations and a cache point, which it cannot have there."""
    if part.citations or part.cache is not None:
        WARNINGS.fields(part, path, ("citations", "cache"), warnings)
        part = replace(part, citations=(), cache=None)
    return write_text(part, path, provider, warnings)


def write_media(part: MediaPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns media inline or by URI; raises `UnsupportedContentError` with its path for unsupported content."""
    blob = part.blob
    check_blob(blob, path, provider)
    WARNINGS.fields(part, path, ("detail", "transcript", "id", "cache"), warnings)
    clip, resolution = write_controls(part, path, _CLIP, WARNINGS, warnings)
    controls: Object = {"processing": {"type": "static", **clip}} if clip else {}
    if resolution is not None:
        controls["resolution"] = resolution
    uri = file_uri(blob, path, provider, warnings)
    where: Object = {"data": to_base64(blob)} if uri is None else {"uri": uri}
    data: Object = {"type": part.type, "mime_type": blob.media_type, **where, **controls}
    return with_options(data, part, path, provider, _MEDIA_FIELDS, warnings)


def read_content(data: Object, provider: str) -> ContentPart | OpaquePart:
    """Reads text or media, or an opaque part of content that the schema does not model.

    Raises `SchemaError` with the path of what is invalid, such as data that is not base64.
    """
    kind = text_of(data, "type") or ("text" if "text" in data else "")
    if kind == "text":
        text = text_of(data, "text") or ""
        citations = read_annotations(data.get("annotations"), text)
        return TextPart(text, citations, provider_options=text_options(data, provider)) if text else TextPart("")
    if kind not in _MEDIA or (data.get("data") is None and not data.get("uri")):
        return OpaquePart(provider, f"{OPAQUE}{kind}", data)
    blob = _blob(data, kind, provider)
    processing = object_of(data, "processing")
    is_clip = kind == "video" and processing.get("type") == "static"
    clip = read_clip({name: processing[name] for name in processing if name != "type"}, _CLIP) if is_clip else None
    resolution = data.get("resolution") if kind != "audio" and data.get("resolution") in _RESOLUTIONS else None
    read = {"processing": clip, "resolution": resolution}
    known = _MEDIA_FIELDS | {name for name, found in read.items() if found}
    options = read_options(data, known, provider)
    return _MEDIA[kind](blob, provider_options=options, controls=with_controls(clip, resolution))


def text_options(data: Object, provider: str) -> ProviderOptions:
    """Returns the options of a text: its further fields."""
    return read_options(data, TEXT_FIELDS, provider)


def _blob(data: Object, kind: str, provider: str) -> Blob:
    media_type = text_of(data, "mime_type") or _ANY_TYPES[kind]
    uri = text_of(data, "uri")
    if data.get("data") or not uri:
        return Blob.from_bytes(from_base64(data.get("data"), "data"), media_type)
    return blob_at(uri, media_type, provider)


def opaque_content(part: OpaquePart, provider: str) -> Object | None:
    """Returns the content that `part` was read from; None if it was not read from content."""
    if part.provider != provider or not part.kind.startswith(OPAQUE) or not isinstance(part.data, dict):
        return None
    data = cast(Object, part.data)
    if part.kind.removeprefix(OPAQUE) in CONTENT_TYPES:
        return None
    try:
        return dict(data) if read_content(data, provider) == part else None
    except SchemaError:
        return None
