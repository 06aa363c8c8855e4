"""Citations, which belong to whole text blocks in this format, and to spans of a text in the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from abstractcore.schema import EMPTY, CallWarning, Citation, JSONObject, TextPart

from ...common.reading import Object, count_of, objects_of, text_of

_DOCUMENT = ("cited_text", "document_title", "start", "end")
_SEARCH = ("cited_text", "source", "title", "start", "end")
_WEB = ("cited_text", "url", "title", "start", "end")
_WEB_KIND = "web_search_result_location"
_UNSAID = (("type", _WEB_KIND), ("encrypted_index", ""))
"""Defaults for a citation of a web page of which only the URL is known."""

_LOCATION_FIELDS = {
    "char_location": ("document_index", "start_char_index", "end_char_index"),
    "page_location": ("document_index", "start_page_number", "end_page_number"),
    "content_block_location": ("document_index", "start_block_index", "end_block_index"),
    "search_result_location": ("search_result_index", "start_block_index", "end_block_index"),
}
"""The integers that a citation of each kind needs to be sent back."""

Writer = Callable[[Citation, str, list[CallWarning]], Object | None]
"""Returns the format's citation, or None (and a warning with the path)."""


def citations_to_ours(block: Object) -> tuple[Citation, ...]:
    """Returns the citations of a text block; `start` and `end` are the text's, and exist only in streams of
    AbstractCore.
    """
    return tuple(map(citation_to_ours, objects_of(block, "citations")))


def citation_to_ours(data: Object) -> Citation:
    """Returns one citation. Its kind, and what the schema does not model, are in its metadata."""
    kind = text_of(data, "type")
    if kind == "search_result_location":
        known, source, title = _SEARCH, text_of(data, "source"), text_of(data, "title")
    elif kind in _LOCATION_FIELDS:
        known, source, title = _DOCUMENT, text_of(data, "document_title"), text_of(data, "document_title")
    else:
        known, source, title = _WEB, text_of(data, "url"), text_of(data, "title")
    metadata = {key: value for key, value in data.items() if key not in known and (key, value) not in _UNSAID}
    span = (count_of(data, "start"), count_of(data, "end"))
    return Citation(source or "", title, text_of(data, "cited_text"), *span, metadata)


def citation_to_theirs(citation: Citation, path: str, warnings: list[CallWarning]) -> Object:
    """For a client: a citation of any origin, as one of a web page if it is not from this format."""
    data = _written(citation, citation.provider_metadata)
    if not _reads_back(data, citation):
        message = "the Messages format would read this as another citation"
        warnings.append(CallWarning("provider_metadata_left_out", f"{path}.provider_metadata", message))
        data = _written(citation, EMPTY)
    return data


def _reads_back(data: Object, citation: Citation) -> bool:
    return replace(citation_to_ours(data), start=citation.start, end=citation.end) == citation


def own_citation(citation: Citation, path: str, warnings: list[CallWarning]) -> Object | None:
    """For the provider: a citation from the provider. Any other is omitted, as are fields that cannot be sent back."""
    metadata = citation.provider_metadata
    kind = metadata.get("type")
    web = kind is None and isinstance(metadata.get("encrypted_index"), str)
    fields = ("encrypted_index",) if web else _LOCATION_FIELDS.get(str(kind))
    numbers = () if web or fields is None else fields
    data = _written(citation, metadata)
    if (
        fields is None
        or not all(type(metadata.get(name)) is int for name in numbers)
        or not _reads_back(data, citation)
    ):
        message = "only citations from this provider can be sent back"
        warnings.append(CallWarning("citation_left_out", path, message))
        return None
    kept = {name: value for name, value in metadata.items() if name in fields or name == "type"}
    if len(kept) < len(metadata):
        message = f"a citation cannot be sent back with more than {' and '.join(kept)}"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, metadata, kept))
    return {name: value for name, value in data.items() if name in kept or name not in metadata}


def _written(citation: Citation, metadata: JSONObject) -> Object:
    rest: Object = dict(metadata)
    kind = rest.get("type")
    if kind == "search_result_location":
        return rest | {"source": citation.source, "title": citation.title, "cited_text": citation.quote or ""}
    if isinstance(kind, str) and kind in _LOCATION_FIELDS:
        return rest | {"document_title": citation.title, "cited_text": citation.quote or ""}
    web = {"type": _WEB_KIND, "url": citation.source, "title": citation.title, "cited_text": citation.quote or ""}
    return {"encrypted_index": "", **rest, **web}


def placed_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> Iterator[tuple[int, Citation]]:
    """Returns the citations, with their indexes, whose spans are equal or ascending: those that blocks can express."""
    last: tuple[int, int] | None = None
    for index, citation in enumerate(part.citations):
        start, end = span = citation.start or 0, citation.end or 0
        if span == last or (last[1] if last else 0) <= start < end <= len(part.text):
            last = span
            yield index, citation
        else:
            message = "spans that overlap, lie outside the text or go backwards cannot be sent"
            warnings.append(CallWarning("citation_left_out", f"{path}.citations[{index}]", message))


def spanned_citations(part: TextPart, path: str, warnings: list[CallWarning]) -> list[Object]:
    """For a client: the citations of a text in one block. A citation of a span has it as extra fields."""
    written: list[Object] = []
    for index, citation in placed_citations(part, path, warnings):
        data = citation_to_theirs(citation, f"{path}.citations[{index}]", warnings)
        if (citation.start, citation.end) != (0, len(part.text)):
            data |= {"start": citation.start, "end": citation.end}
        written.append(data)
    return written


def cited_blocks(part: TextPart, path: str, write: Writer, warnings: list[CallWarning]) -> list[Object]:
    """Returns the text as blocks, each with the citations of its whole text."""
    if not part.citations:
        return [{"type": "text", "text": part.text}]
    blocks: list[Object] = []
    reached = 0
    for index, citation in placed_citations(part, path, warnings):
        data = write(citation, f"{path}.citations[{index}]", warnings)
        if data is None:
            continue
        start, end = citation.start or 0, citation.end or 0
        if start > reached:
            blocks.append({"type": "text", "text": part.text[reached:start]})
        if end > reached:
            blocks.append({"type": "text", "text": part.text[start:end], "citations": []})
            reached = end
        blocks[-1]["citations"].append(data)
    if reached < len(part.text):
        blocks.append({"type": "text", "text": part.text[reached:]})
    return blocks
