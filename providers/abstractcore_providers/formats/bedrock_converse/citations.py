"""Citations: the format attaches them to whole text blocks, the schema to spans of a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from abstractcore.schema import CallWarning, Citation, TextPart

from ...common.reading import Object, count_of, object_of, objects_of, text_of

_START, _END = "start", "end"


def fit_citations(
    citations: Iterable[Citation], length: int, path: str, warnings: list[CallWarning]
) -> tuple[Citation, ...]:
    """Returns the citations of a text of `length` that blocks can express: with equal or disjoint spans."""
    kept: list[Citation] = []
    for index, citation in enumerate(citations):
        citation_path = f"{path}.citations[{index}]"
        before = _span(kept[-1]) if kept else (0, 0)
        start, end = _span(citation)
        if start < end <= length and ((start, end) == before or start >= before[1]):
            kept.append(_fitted(citation, citation_path, warnings))
        else:
            message = "its span overlaps another or lies outside the text, which the format cannot express"
            warnings.append(CallWarning("citation_left_out", citation_path, message))
    return tuple(kept)


def _fitted(citation: Citation, path: str, warnings: list[CallWarning]) -> Citation:
    kept = {
        name: value
        for name, value in citation.provider_metadata.items()
        if name == "location" and isinstance(value, dict)
    }
    if kept != citation.provider_metadata:
        message = "the format has no field for some of its metadata"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, sent=kept or None))
    return replace(citation, provider_metadata=kept)


def write_text(part: TextPart) -> list[Object]:
    """Returns the blocks of an adjusted part."""
    blocks: list[Object] = []
    written = 0
    for (start, end), citations in groupby(part.citations, _span):
        if written < start:
            blocks.append({"text": part.text[written:start]})
        blocks.append(_cited(part.text[start:end], list(citations)))
        written = end
    if written < len(part.text):
        blocks.append({"text": part.text[written:]})
    return blocks


def _cited(text: str, citations: list[Citation]) -> Object:
    return {"citationsContent": {"content": [{"text": text}], "citations": list(map(write_citation, citations))}}


def write_citation(citation: Citation) -> Object:
    """Returns the format's citation object."""
    data: Object = {}
    location = object_of(citation.provider_metadata, "location")
    if citation.title is not None:
        data["title"] = citation.title
    if citation.source != _address(location):
        data["source"] = citation.source
    if citation.quote is not None:
        data["sourceContent"] = [{"text": citation.quote}]
    if "location" in citation.provider_metadata:
        data["location"] = location
    return data


def streamed_citation(citation: Citation, length: int) -> Object:
    """As `write_citation`, for a text of `length` that was streamed before its citations were known.

    For a part of the text, two extra fields give the span.
    """
    start, end = _span(citation)
    whole = (start, end) == (0, length)
    return write_citation(citation) if whole else {**write_citation(citation), _START: start, _END: end}


def read_citation(data: Object) -> Citation:
    """Reads a citation, of the whole text of its block unless it has a span (see `streamed_citation`)."""
    location = object_of(data, "location") or None
    source = text_of(data, "source")
    quote = "".join(text_of(content, "text") or "" for content in objects_of(data, "sourceContent"))
    return Citation(
        _address(location or {}) if source is None else source,
        text_of(data, "title"),
        quote or None,
        start=count_of(data, _START),
        end=count_of(data, _END),
        provider_metadata={"location": location},
    )


def read_cited(data: Object) -> TextPart:
    """Reads the text of a `citationsContent` block, with its citations."""
    text = "".join(text_of(content, "text") or "" for content in objects_of(data, "content"))
    return TextPart(text, tuple(map(read_citation, objects_of(data, "citations"))))


def _address(location: Object) -> str:
    return text_of(object_of(location, "web"), "url") or ""


def _span(citation: Citation) -> tuple[int, int]:
    return citation.start or 0, citation.end or 0
