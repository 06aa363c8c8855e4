"""`TextSource`: a text of the call that quotes may come from, with its pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...schema.evidence import EvidenceSource
from .matching import SearchedText

PageSpans = Sequence["tuple[int, int]"]


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a source: its page, its offsets in the text of that page, and what stands there.

    `is_all` says that these are all lines of the page, or of a source without pages, and more than one.
    """

    page: int | None
    start: int
    end: int
    text: str
    is_all: bool = False


@dataclass(slots=True)
class TextSource:
    """A text with the spans of its pages, if it has pages; what is between pages (their numbers) is not searched.

    `problem` says why the text of a source is not known; it is then empty. `document` is the index of a file.
    """

    kind: EvidenceSource
    name: str
    text: str = ""
    pages: PageSpans = ()
    document: int | None = None
    problem: str | None = None
    searched: SearchedText = field(init=False)
    _page_starts: list[int] = field(init=False, default_factory=list[int])
    _page_sizes: list[int] = field(init=False, default_factory=list[int])
    _contents: list[tuple[int, int]] = field(init=False, default_factory=list["tuple[int, int]"])

    def __post_init__(self) -> None:
        if not self.pages:
            self.searched = SearchedText(self.text)
            self._contents.append(_content(self.text))
            return
        texts = [self.text[begin:end] for begin, end in self.pages]
        position = 0
        for text in texts:
            self._page_starts.append(position)
            self._page_sizes.append(len(text))
            self._contents.append(_content(text))
            position += len(text) + 1
        self.searched = SearchedText("\n".join(texts))

    def place(self, start: int, end: int) -> Place:
        """Returns the place of a span of the searched text; one over several pages ends with its first page."""
        text = self.searched.text[start:end]
        if not self._page_starts:
            return Place(None, start, end, text, _has_all_lines(text, start, self._contents[0]))
        index = bisect_right(self._page_starts, start) - 1
        begin = start - self._page_starts[index]
        end = min(end - self._page_starts[index], self._page_sizes[index])
        return Place(index + 1, begin, end, text, _has_all_lines(text, begin, self._contents[index]))


def _content(text: str) -> tuple[int, int]:
    """Returns the span of a text without the white space around it."""
    return len(text) - len(text.lstrip()), len(text.rstrip())


def _has_all_lines(text: str, start: int, content: tuple[int, int]) -> bool:
    first, last = content
    return start <= first and start + len(text) >= last and "\n" in text
