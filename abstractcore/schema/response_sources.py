"""Finds quotes and citations in the files of a response, and in the results of its tools.

Where a citation of a provider says that it stands: the fields of its metadata, in the words of several APIs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, cast

from .base_error import SchemaError, shown
from .evidence import Source
from .media_decisions import MediaAnchor, MediaDecision
from .parts import Citation
from .quote_search import WorkBudget
from .source_texts import TextSource
from .tool_steps import ToolStep

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


MOST_SOURCES: Final = 1000
_WORK: Final = 10_000_000_000
_PARTLY_WORDS: Final = ("image", "audio")
"""Kinds whose text has more than the words of the file: facts about an image, what a model says about it, times."""


def find_sources(
    quote: str | Citation, media: Sequence[MediaDecision], tool_steps: Sequence[ToolStep]
) -> tuple[Source, ...]:
    """Returns the places of a quote or a citation, in order; see `GenerateResponse.sources`."""
    if isinstance(quote, Citation):
        return _cited_sources(media, quote)
    if not isinstance(quote, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SchemaError(f"expected a text or a Citation, got {shown(quote)}", "quote")
    texts = [file_text(index, each) for index, each in enumerate(media)]
    results = (TextSource("tool_result", step.call.name, step.result.as_text) for step in tool_steps)
    found = _find(quote, [*(each for each in texts if each is not None), *results])
    unread = [each.source for each, text in zip(media, texts, strict=True) if text is None]
    if not found and unread and any(map(str.isalnum, quote)):
        raise SchemaError(
            f"the quote is not in the texts at hand, and the text of {shown(unread[0])} is not known: the file "
            "itself was sent to the model",
            "quote",
            hint="Pass verify=True or evidence=True to generate: files are then read here too, after the answer.",
        )
    return found


def file_text(index: int, decision: MediaDecision) -> TextSource | None:
    """Returns the text of the file with this index in `media`; None if it is not known."""
    name, sent = decision.source, decision.sent
    is_partly = decision.kind in _PARTLY_WORDS
    if decision.own_text is not None:
        own = decision.own_text
        return TextSource("file", name, own.text, own.anchors, index, own.problem, is_partly and bool(own.anchors))
    if decision.route == "native" or sent is None or (sent.text is None and not sent.parts):
        return None
    text = sent.text if sent.text is not None else "".join(part.text or "" for part in sent.parts)
    return TextSource("file", name, text, sent.anchors, index, anchored_only=is_partly)


def _find(quote: str, texts: Sequence[TextSource]) -> tuple[Source, ...]:
    if not any(map(str.isalnum, quote)):
        return ()
    budget = WorkBudget(_WORK)
    return tuple(chain.from_iterable(each.find_all(quote, budget, MOST_SOURCES) for each in texts))


def _cited_sources(media: Sequence[MediaDecision], citation: Citation) -> tuple[Source, ...]:
    place = cited_place(citation)
    files = _cited_files(media, citation, place)
    if citation.quote:
        known = (file_text(index, media[index]) for index in files)
        found = _find(citation.quote, [each for each in known if each is not None])
        if found:
            return _narrow_to(place, found, media)
    return (_reported_source(media, citation, place, files),)


def _cited_files(media: Sequence[MediaDecision], citation: Citation, place: CitedPlace) -> list[int]:
    """Returns the indexes of the files that a citation may name; the number of a document counts only if its name does
    not speak against it.
    """
    named = [index for index, each in enumerate(media) if each.source in (citation.title, citation.source)]
    documents = [
        index for index, each in enumerate(media) if each.route == "native" and each.kind in ("document", "text")
    ]
    if place.document is not None and place.document < len(documents):
        index = documents[place.document]
        if index in named or not (citation.title or citation.source):
            return [index]
    return named


def _pages(place: CitedPlace, decision: MediaDecision | None) -> Sequence[int]:
    """Returns the pages of the whole file that a citation names: of one that was cut, the provider counts those that it
    got.
    """
    if place.first_page is None or place.last_page is None:
        return ()
    sent = decision.sent.page_numbers if decision is not None and decision.sent is not None else ()
    return sent[place.first_page - 1 : place.last_page] if sent else range(place.first_page, place.last_page + 1)


def _narrow_to(place: CitedPlace, found: tuple[Source, ...], media: Sequence[MediaDecision]) -> tuple[Source, ...]:
    """Returns those of the places that the citation names, else all."""
    if place.first_page is not None:
        pages = {index: _pages(place, decision) for index, decision in enumerate(media)}
        return (
            tuple(each for each in found if each.page in pages.get(-1 if each.document is None else each.document, ()))
            or found
        )
    return tuple(each for each in found if place.start is not None and each.start == place.start) or found


def _reported_source(
    media: Sequence[MediaDecision], citation: Citation, place: CitedPlace, files: Sequence[int]
) -> Source:
    """Returns the provider's description of its citation."""
    is_web = not files and citation.source.partition(":")[0].lower() in ("http", "https")
    document = files[0] if len(files) == 1 else None
    pages = _pages(place, media[document] if document is not None else None)
    page = pages[0] if pages else None
    name = media[document].source if document is not None else citation.title or citation.source or "a document"
    return Source(
        quote=citation.quote or "",
        match="reported",
        source="web" if is_web else "file",
        name=citation.source if is_web else name,
        document=document,
        page=page,
        start=place.start,
        end=place.end,
        text=citation.quote,
        anchors=() if page is None else (MediaAnchor(0, 0, page=page),),
    )
