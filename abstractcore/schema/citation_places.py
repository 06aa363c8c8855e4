"""Where a citation of a provider says that it stands: the fields of its metadata, in the words of several APIs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .parts import Citation

_DEEPEST = 6
_DOCUMENT = ("document_index", "documentIndex")
_FIRST_PAGE = ("start_page_number", "documentPage.start", "page_number", "pageNumber", "firstPage")
_LAST_PAGE = ("documentPage.end", "lastPage")
_START, _END = ("start_char_index", "documentChar.start"), ("end_char_index", "documentChar.end")


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """`document` counts the documents of the request from 0; pages count from 1, both inclusive; `start` and `end` are
    characters of the text that the provider has of the file.
    """

    document: int | None = None
    first_page: int | None = None
    last_page: int | None = None
    start: int | None = None
    end: int | None = None


def cited_place(citation: Citation) -> CitedPlace:
    """Returns the place that a citation names.

    Pages: https://docs.anthropic.com/en/docs/build-with-claude/citations (`end_page_number` is exclusive),
    `DocumentPageLocation` of Bedrock, `pageNumber` and `ragChunk.pageSpan` of Gemini's `retrievedContext`,
    `page_number` of its interactions.
    """
    numbers = dict(_numbers(citation.provider_metadata, "", _DEEPEST))

    def first(names: tuple[str, ...]) -> int | None:
        return next((numbers[name] for name in names if name in numbers), None)

    begin, last = first(_FIRST_PAGE), first(_LAST_PAGE)
    if "end_page_number" in numbers:
        last = numbers["end_page_number"] - 1
    begin = None if begin is not None and begin < 1 else begin
    return CitedPlace(
        first(_DOCUMENT),
        begin,
        None if begin is None else max(begin, last or begin),
        first(_START),
        first(_END),
    )


def _numbers(data: Any, parent: str, depth: int) -> list[tuple[str, int]]:
    """Returns the counts in nested metadata, by their names, and by those of their parents and theirs."""
    if not isinstance(data, Mapping) or depth == 0:
        return []
    found: list[tuple[str, int]] = []
    for name, value in cast("Mapping[str, Any]", data).items():
        if type(value) is int and value >= 0:
            found += [(name, value), (f"{parent}.{name}", value)]
        else:
            found += _numbers(value, name, depth - 1)
    return found
