"""Annotations of a text, and citations of the schema, converted both ways. Offsets are in bytes on the wire.

An annotation that cites nothing, such as the time of a spoken word, is a citation without a source: its fields are
metadata.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abstractcore.schema import CallWarning, Citation, TextPart

from ...common.data_urls import bytes_of, characters_in
from ...common.reading import Object, as_objects, count_of, text_of

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
