"""`TextSource`: a text of the call that quotes may come from, with the places of its pieces in the file.

The cells that a span of a table's row is in. Rows are Markdown, as media handlers write them: `| a | b |`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from .evidence import EvidenceMatch, EvidenceSource, FilePlaces, Source
from .media_decisions import MediaAnchor
from .quote_search import MOST_OCCURRENCES, QuoteMatch, SearchedText, WorkBudget

_ROW = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})\2")
_BORDER = re.compile(r"(?<!\\)\|")
_LONGEST_ROW = 20_000


def in_cells(anchor: MediaAnchor, text: str, start: int, end: int) -> MediaAnchor:
    """Returns the anchor of a row for the cells that hold `start` to `end` of `text` alone, where that is certain."""
    row = None if anchor.cell is None else _ROW.fullmatch(anchor.cell)
    if row is None or anchor.end - anchor.start > _LONGEST_ROW:
        return anchor
    borders = [found.start() for found in _BORDER.finditer(text, anchor.start, anchor.end)]
    first, last = _number(row[1]), _number(row[3])
    if len(borders) != last - first + 2:
        return anchor
    touched = [
        first + index for index, (left, right) in enumerate(pairwise(borders)) if start < right and end > left + 1
    ]
    if not touched:
        return anchor
    cells = dict.fromkeys(f"{_letters(column)}{row[2]}" for column in (touched[0], touched[-1]))
    start, end = max(borders[touched[0] - first], anchor.start), min(borders[touched[-1] - first + 1] + 1, anchor.end)
    return replace(anchor, cell=":".join(cells), start=start, end=end)


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


P = TypeVar("P", bound=FilePlaces)
_TIME = re.compile(r"\[[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?\]\s?")
"""A time in a transcript, which a model may copy with the words."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A span in a source: its page, its offsets in the text of that page, what stands there, and the finest anchors
    that it touches.

    `is_all` says that these are all lines of the page, or of a source without pages, and more than one.
    """

    page: int | None
    start: int
    end: int
    text: str
    anchors: tuple[MediaAnchor, ...] = ()
    is_all: bool = False


@dataclass(slots=True)
class TextSource:
    """A text with the anchors of its pieces. Of a text with pages, what is between them (their numbers) is not
    searched; with `anchored_only`, nothing is searched that has no anchor: labels, the times of a transcript.

    `problem` says why the text of a source is not known; it is then empty. `document` is the index of a file.
    """

    kind: EvidenceSource
    name: str
    text: str = ""
    anchors: Sequence[MediaAnchor] = ()
    document: int | None = None
    problem: str | None = None
    anchored_only: bool = False
    searched: SearchedText = field(init=False)
    _spans: list[tuple[int, int]] = field(init=False, repr=False)
    _begins: list[int] = field(init=False, repr=False)
    _anchor_starts: list[int] = field(init=False, repr=False)
    _reach: list[int] = field(init=False, repr=False)
    _contents: dict[int, tuple[int, int]] = field(init=False, repr=False, default_factory=dict[int, "tuple[int, int]"])

    def __post_init__(self) -> None:
        self.anchors = sorted(self.anchors, key=lambda each: (each.start, -each.end, each.box is not None))
        pages = [each for each in self.anchors if _is_page(each)]
        pieces = self.anchors if self.anchored_only else pages
        self._spans = list(_outermost(pieces)) if pieces or self.anchored_only else [(0, len(self.text))]
        lengths = (end - start + 1 for start, end in self._spans)
        self._begins = [0, *accumulate(lengths)][: len(self._spans)]
        self.searched = SearchedText("\n".join(self.text[start:end] for start, end in self._spans))
        self._anchor_starts = [each.start for each in self.anchors]
        self._reach = list(accumulate((each.end for each in self.anchors), max))

    def find(self, quote: str, budget: WorkBudget, most: int = MOST_OCCURRENCES) -> QuoteMatch | None:
        """Returns up to `most` places of a quote in `searched.text`; None if there is none."""
        found = self.searched.find(quote, budget, most)
        if found is None and self.anchored_only and _TIME.search(quote):
            return self.searched.find(_TIME.sub("", quote), budget, most)
        return found

    def find_all(self, quote: str, budget: WorkBudget, most: int) -> Iterator[Source]:
        """Yields up to `most` places of a quote, in order."""
        found = self.find(quote, budget, most)
        for start, end in () if found is None else found.spans:
            yield self.at(start, end, quote, "exact" if found is None else found.match)

    def at(self, start: int, end: int, quote: str, match: EvidenceMatch) -> Source:
        """Returns a span of the searched text as the place of a quote."""
        return self.placed(Source, self.place(start, end), quote, match)

    def placed(self, make: Callable[..., P], place: SourcePlace, quote: str, match: EvidenceMatch, **more: Any) -> P:
        """Returns a place as a `Source` or `Evidence`, which `make` is; `more` are the fields that the other lacks."""
        return make(
            quote=quote,
            match=match,
            source=self.kind,
            name=self.name,
            document=self.document,
            page=place.page,
            start=place.start,
            end=place.end,
            text=place.text,
            anchors=place.anchors,
            **more,
        )

    def place(self, start: int, end: int) -> SourcePlace:
        """Returns the place of a span of the searched text; one over several pages ends with its first page."""
        text = self.searched.text[start:end]
        if not self._spans:
            return SourcePlace(None, start, end, text)
        return self._place(self._in_text(start), self._in_text(max(end - 1, start)) + 1, text)

    def place_in_text(self, start: int, end: int) -> SourcePlace:
        """Returns the place of a span of `text`; one over several pages ends with its first page."""
        return self._place(start, end, self.text[start:end])

    def _place(self, first: int, last: int, text: str) -> SourcePlace:
        touched = self._anchors_between(first, last)
        page = next((each for each in touched if _is_page(each)), None)
        begin, stop = (0, len(self.text)) if page is None else (page.start, page.end)
        return SourcePlace(
            None if page is None else page.page,
            first - begin,
            min(last, stop) - begin,
            text,
            tuple(in_cells(each, self.text, first, last) for each in _finest(touched)),
            "\n" in text and self._has_all_lines(first, last, begin, stop),
        )

    def _has_all_lines(self, first: int, last: int, begin: int, stop: int) -> bool:
        if begin not in self._contents:
            whole = self.text[begin:stop]
            self._contents[begin] = stop - len(whole.lstrip()), begin + len(whole.rstrip())
        content, end = self._contents[begin]
        return first <= content and last >= end

    def _in_text(self, position: int) -> int:
        """Returns the place in `text` of a place in the searched text; the end of a piece for a break after it."""
        index = bisect_right(self._begins, position) - 1
        start, end = self._spans[index]
        return min(start + position - self._begins[index], end)

    def _anchors_between(self, start: int, end: int) -> list[MediaAnchor]:
        """Returns the anchors of a span of `text`, in order."""
        last = bisect_left(self._anchor_starts, end)
        first = bisect_right(self._reach, start, 0, last)
        return [each for each in self.anchors[first:last] if each.end > start]


def _is_page(anchor: MediaAnchor) -> bool:
    return anchor.page is not None and anchor.box is None


def _outermost(anchors: Iterable[MediaAnchor]) -> Iterator[tuple[int, int]]:
    """Yields the spans of sorted anchors, those that overlap as one."""
    start = end = -1
    for each in anchors:
        if each.start < end:
            end = max(end, each.end)
            continue
        if end > start:
            yield start, end
        start, end = each.start, each.end
    if end > start:
        yield start, end


def _finest(touched: Sequence[MediaAnchor]) -> Iterator[MediaAnchor]:
    """Yields sorted anchors without those that hold the next one."""
    for index, each in enumerate(touched):
        following = touched[index + 1] if index + 1 < len(touched) else None
        if following is None or following.end > each.end:
            yield each
