"""`Source`: a place in a file where the words of a quote stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .. import schema
from .file_places import FilePlaces
from .immutable import Immutable

SourceMatch = Literal["exact", "normalised", "reported"]
"""How a quote was found: as those of `Evidence`; "reported" is what a provider says about its citation, unchecked: our
own text of the file does not have it, or there is none."""
SourceKind = Literal["file", "message", "tool_result", "web"]
"""What a quote stands in; "web" is a page that the provider searched."""


@dataclass(frozen=True, slots=True)
class Source(FilePlaces, Immutable):
    """One place where `quote` stands. The fields mean what those of `Evidence` mean.

    `text` is what stands there: the original words, None if only the provider knows them. `document` is the index of
    the file in `media` of the response, None for other sources and for a file that is not of this call; `name` is that
    of the file or the tool, or the URL of a page. `start` and `end` are character offsets in our text of `page`, for
    sources without pages in the whole text. `anchors` are the finest places that this span touches, in order; `box`,
    `sheet`, `cell`, `paragraph`, `seconds` and `member` are read from them.
    """

    quote: str
    match: SourceMatch
    source: SourceKind
    name: str
    document: int | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    anchors: tuple[schema.MediaAnchor, ...] = ()

    @property
    def where(self) -> str:
        """The place in words: "report.pdf, page 3", "sales.xlsx, Sales!B2", "call.mp3, 01:05"."""
        cell = f"{self.sheet}!{self.cell}" if self.sheet and self.cell else self.sheet
        minutes, rest = divmod(int(self.seconds[0]), 60) if self.seconds else (0, 0)
        time = f"{minutes:02}:{rest:02}" if self.seconds else None
        page = None if self.page is None else f"page {self.page}"
        paragraph = None if self.paragraph is None else f"paragraph {self.paragraph}"
        return ", ".join(each for each in (self.name, self.member, page, cell, paragraph, time) if each)

    def __str__(self) -> str:
        return self.where if self.text is None else f"{self.where}: {self.text}"
