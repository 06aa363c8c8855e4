"""Citations: spans of an answer, each with the documents or tool results that support it.

A citation of the schema has one source: the first one. All are kept in the citation's metadata if there is more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from abstractcore.schema import CallWarning, Citation

from ...common.reading import Object, as_objects, count_of, object_of, objects_of, text_of

PLAN = "PLAN"
"""The type of a citation in a plan of tool calls; others are in the content block of their index."""


def citation_to_ours(data: Object) -> Citation:
    """Reads one citation; raises `SchemaError` for an invalid span."""
    sources = data.get("sources")
    source, title, quote = _named(as_objects(sources))
    plain = sources is None or sources == _sources(source, title, quote)
    return Citation(
        source, title, quote, count_of(data, "start"), count_of(data, "end"), {} if plain else {"sources": sources}
    )


def citations_of(message: Object) -> tuple[list[Object], dict[int, list[Object]]]:
    """Returns the citations of the plan, and those of each content block; one without a block is of the first text."""
    plan: list[Object] = []
    blocks: dict[int, list[Object]] = {}
    content = objects_of(message, "content")
    first = next((index for index, block in enumerate(content) if "text" in block), 0)
    for citation in objects_of(message, "citations"):
        if citation.get("type") == PLAN:
            plan.append(citation)
        else:
            index = count_of(citation, "content_index")
            blocks.setdefault(first if index is None else index, []).append(citation)
    return plan, blocks


def citations_to_theirs(text: str, citations: Iterable[Citation], index: int | None) -> list[Object]:
    """Returns the citations of a text in the content block at `index`, or in the plan."""
    position: Object = {"type": PLAN} if index is None else {"type": "TEXT_CONTENT", "content_index": index}
    return [
        {
            "start": citation.start,
            "end": citation.end,
            "text": text[citation.start : citation.end],
            "sources": citation.provider_metadata.get("sources", _sources(*_own(citation))),
            **position,
        }
        for citation in citations
    ]


def fitting(citations: Iterable[Citation], path: str, warnings: list[CallWarning]) -> list[Citation]:
    """Returns the citations of the text at `path` that the format can express, and a warning for the rest."""
    return [_fitting(item, f"{path}.citations[{i}]", warnings) for i, item in enumerate(citations)]


def _fitting(citation: Citation, path: str, warnings: list[CallWarning]) -> Citation:
    own, metadata = _own(citation), citation.provider_metadata
    sources = _objects(metadata.get("sources"))
    kept = sources is not None and _named(sources) == own and sources != _sources(*own)
    rest: Object = {"sources": sources} if kept else {}
    if len(metadata) > len(rest):
        message = "only the sources of a citation can be sent beside its span"
        warnings.append(CallWarning("metadata_left_out", f"{path}.provider_metadata", message, sent=rest or None))
    return Citation(*own, citation.start, citation.end, rest)


def _own(citation: Citation) -> tuple[str, str | None, str | None]:
    return citation.source, citation.title, citation.quote


def _objects(sources: Any) -> list[Object] | None:
    """Returns a list of objects; None for anything else."""
    if not isinstance(sources, list):
        return None
    items = cast("list[Any]", sources)
    return list(items) if all(isinstance(item, dict) for item in items) else None


def _named(sources: list[Object]) -> tuple[str, str | None, str | None]:
    """Returns source, title and quote, from the first of the sources."""
    first = sources[0] if sources else {}
    document = object_of(first, "document")
    return text_of(first, "id") or "", text_of(document, "title") or None, text_of(document, "snippet") or None


def _sources(source: str, title: str | None, quote: str | None) -> list[Object]:
    """Returns the sources for a citation without metadata."""
    data: Object = {"type": "document", "id": source}
    document = {name: text for name, text in (("title", title), ("snippet", quote)) if text is not None}
    return [data | {"document": document} if document else data]
