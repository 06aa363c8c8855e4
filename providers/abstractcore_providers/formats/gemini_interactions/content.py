"""Text and media in steps, written and read.

Annotations of a text, and citations of the schema, converted both ways. Offsets are in bytes on the wire.

An annotation that cites nothing, such as the time of a spoken word, is a citation without a source: its fields are
metadata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast, get_args

from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    Citation,
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
from ...common.data_urls import (
    GEMINI_OFFICE,
    GEMINI_VIDEO,
    INTERACTIONS_AUDIO,
    INTERACTIONS_IMAGES,
    bytes_of,
    characters_in,
)
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
from ...common.reading import Object, as_objects, count_of, object_of, text_of
from .vocabulary import WARNINGS

_URL = "url_citation"
_FIELDS = {
    _URL: ("url", "title"),
    "file_citation": ("document_uri", "file_name"),
    "place_citation": ("url", "name"),
}
"""The fields for source and title in each type of citation."""
_NONE = ("", "")
_EXTRAS: dict[str, tuple[str, ...]] = {
    "file_citation": ("source", "page_number", "media_id", "custom_metadata"),
    "place_citation": ("place_id", "review_snippets"),
    "word_info": ("text", "start_offset", "end_offset", "speaker"),
    "speech_metadata": ("speaker", "style"),
}
"""The further fields of each type of annotation, in the package google-genai."""
_SPAN = ("start_index", "end_index")


def read_annotations(annotations: Any, text: str) -> tuple[Citation, ...]:
    """Returns the citations of `text`; the metadata has the type of those of anything but a web page."""
    return tuple(_citation(note, text) for note in as_objects(annotations))


def _citation(note: Object, text: str) -> Citation:
    kind = text_of(note, "type") or ""
    source, title = _FIELDS.get(kind, _NONE)
    start, end = (count_of(note, name) for name in _SPAN)
    known = {source, title, *_SPAN, *(("type",) if kind == _URL else ())}
    return Citation(
        text_of(note, source) or "",
        text_of(note, title),
        start=characters_in(text, start or 0),
        end=None if end is None else characters_in(text, end),
        provider_metadata={name: value for name, value in note.items() if name not in known and value is not None},
    )


def fit_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> TextPart:
    """Returns the text with citations as the format can express them, with a warning for the rest."""
    if not part.citations:
        return part
    fitted = [_fitted(citation, f"{path}.citations[{i}]", warnings) for i, citation in enumerate(part.citations)]
    return replace(part, citations=tuple(fitted))


def _fitted(citation: Citation, path: str, warnings: list[CallWarning]) -> Citation:
    """Returns the citation without its quote, and without metadata that is not of its type."""
    metadata = citation.provider_metadata
    kind = metadata.get("type")
    extras = _EXTRAS.get(kind) if isinstance(kind, str) else None
    known = () if extras is None else ("type", *extras)
    kept = {name: value for name, value in metadata.items() if name in known and value is not None}
    fitted = Citation(citation.source, citation.title, None, citation.start, citation.end, kept)
    if extras is not None and kind not in _FIELDS:
        fitted = replace(fitted, source="", title=None)
    for name in ("source", "title", "quote", "provider_metadata"):
        asked, sent = getattr(citation, name), getattr(fitted, name)
        if asked != sent:
            message = f"the Interactions format has no field for this citation's {name}"
            sent = None if sent == {} else sent
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message, asked, sent))
    return fitted


def write_annotations(part: TextPart) -> list[Object]:
    """Returns the annotations for the citations of a text that `fit_citations` returned."""
    return [_annotation(citation, part.text) for citation in part.citations]


def _annotation(citation: Citation, text: str) -> Object:
    metadata = citation.provider_metadata
    kind = metadata.get("type", _URL)
    source, title = _FIELDS.get(kind, _NONE) if isinstance(kind, str) else _NONE
    note: Object = {"type": kind, **metadata}
    if source:
        note[source] = citation.source
        if citation.title is not None:
            note[title] = citation.title
    start, end = citation.start or 0, len(text) if citation.end is None else citation.end
    return {**note, "start_index": bytes_of(text, start), "end_index": bytes_of(text, end)}


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
