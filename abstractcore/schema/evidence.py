"""`Evidence`: where a value of a typed answer stands in the documents of the call, checked in code.

`Source`: a place in a file where the words of a quote stand. `FilePlaces`: what is the same for everything that
stands somewhere in a file: its anchors, read in one word. `Verification`: the figures, names and dates of an answer,
read back from the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .json_values import check_items
from .media_decisions import MediaAnchor
from .reprs import Immutable


class FilePlaces:
    """Base class of records with `anchors`, the places in the file, of which these are the first of each kind."""

    __slots__ = ()
    anchors: tuple[MediaAnchor, ...]

    @property
    def box(self) -> tuple[float, ...] | None:
        """The part of the page or image: left, top, right and bottom, each from 0 to 1."""
        return next((each.box for each in self.anchors if each.box is not None), None)

    @property
    def sheet(self) -> str | None:
        """The sheet of a spreadsheet."""
        return next((each.sheet for each in self.anchors if each.sheet is not None), None)

    @property
    def cell(self) -> str | None:
        """The cell of the sheet, or a range of cells: "B7", "A2:F2"."""
        return next((each.cell for each in self.anchors if each.cell is not None), None)

    @property
    def paragraph(self) -> int | None:
        """The paragraph, from 1, of a document without pages."""
        return next((each.paragraph for each in self.anchors if each.paragraph is not None), None)

    @property
    def seconds(self) -> tuple[float, float] | None:
        """The begin of the first and the end of the last part of a recording; of a frame, both are its time."""
        found = [each.seconds for each in self.anchors if each.seconds is not None]
        return (found[0][0], max(end for _, end in found)) if found else None

    @property
    def member(self) -> str | None:
        """The path of a file in an archive, or the name of an attachment or of an embedded picture."""
        return next((each.member for each in self.anchors if each.member is not None), None)


EvidenceMatch = Literal["exact", "normalised"]
"""How a quote was found: character for character; or up to case, spaces, line breaks and hyphens at them, Unicode
compatibility forms (NFKC), and the forms of dashes and quotation marks."""
EvidenceSource = Literal["file", "message", "tool_result"]
"""What a quote was found in: a file, the text of a user message, or the result of a tool."""


@dataclass(frozen=True, slots=True)
class Evidence(FilePlaces, Immutable):
    """The quote that the model gave for the value at `path`, and where it stands in the texts of the call.

    `verified` says that the value stands there: the quote was found and has the value, or no quote was found and the
    value itself was, in a file or the result of a tool; `quote` is None then. The model has no part in that.
    `quote_found` says that the quote was found, whatever it states. `text` is what stands there, in our own text of the
    source: `start` and `end` are character offsets in the text of `page` (from 1), for sources without pages in the
    whole text. Of a quote that continues on the next page, `end` is the end of `page`. `occurrences` counts the places
    in that source, up to 100; `start` is the first.

    `document` is the index of the file in `media` of the response, None for other sources; `name` is that of the file
    or the tool, or "user". `value_in_quote` says whether `text` has the value, in any common format of numbers and
    dates; None if that cannot be judged, as for yes or no. `reason` says why a value is not verified, or what to know
    of one that is; it is None for evidence without a doubt. `anchors` are the places in the file, as those of `Source`.
    """

    path: str
    quote: str | None = None
    verified: bool = False
    match: EvidenceMatch | None = None
    """How the quote was found: word for word, or nearly."""
    source: EvidenceSource | None = None
    document: int | None = None
    name: str | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    occurrences: int = 0
    value_in_quote: bool | None = None
    reason: str | None = None
    anchors: tuple[MediaAnchor, ...] = ()

    @property
    def quote_found(self) -> bool:
        """Whether the quote stands in the texts, whatever it states."""
        return self.quote is not None and self.match is not None


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
    """How the quote was found: word for word, or nearly."""
    source: SourceKind
    name: str
    document: int | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    anchors: tuple[MediaAnchor, ...] = ()

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


CheckKind = Literal["number", "date", "name"]
"""What a check is of: a number with its unit, also a time of day; a date; a name, also a code, an address."""
Verdict = Literal["agreed", "differs", "not_found"]
"""Whether what the answer says stands in the texts: it does; something else stands at the same words; neither."""


@dataclass(frozen=True, slots=True)
class Check(Immutable):
    """One figure, name or date of an answer: `text`, at `start` to `end` of `response.content`.

    `source` is where it stands, the first of its places; of one that differs, where `instead` stands, which is what the
    text has there. `reason` says why a check is not agreed, or what to know of one that is. `seen` says whether it is
    also read on the image of its page, which hidden or wrong text of a PDF is not; None where nobody looked. `heard`
    says whether a second transcriber hears it at its place in the recording, of a check that differs too; None where
    nobody listened.
    """

    kind: CheckKind
    text: str
    start: int
    end: int
    verdict: Verdict
    """Whether the claim was found in the sources."""
    source: Source | None = None
    instead: str | None = None
    reason: str | None = None
    seen: bool | None = None
    heard: bool | None = None


@dataclass(frozen=True, slots=True)
class Verification(Immutable):
    """The checks of an answer, in its order. `problems` are files that could not be read, and what was not checked.

    "agreed" says that a text has this figure, name or date: not that it is about the same thing, nor that it is true.
    """

    checks: tuple[Check, ...] = ()
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", check_items(self.checks, Check, "checks"))
        object.__setattr__(self, "problems", check_items(self.problems, str, "problems"))

    @property
    def agreed(self) -> tuple[Check, ...]:
        """What stands in the texts."""
        return tuple(each for each in self.checks if each.verdict == "agreed")

    @property
    def doubtful(self) -> tuple[Check, ...]:
        """What deserves a look: each has a `reason`."""
        return tuple(each for each in self.checks if each.reason is not None)

    @property
    def differs(self) -> tuple[Check, ...]:
        """What the texts state otherwise."""
        return tuple(each for each in self.checks if each.verdict == "differs")

    @property
    def not_found(self) -> tuple[Check, ...]:
        """What stands nowhere, such as a sum that the model computed."""
        return tuple(each for each in self.checks if each.verdict == "not_found")
