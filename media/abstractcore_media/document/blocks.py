"""What the readers of documents yield: texts with their places in the file, pictures, files inside, and losses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_LINES = re.compile(r"(?:(?<![ \t])[ \t]++)?(?:\r\n|\r|\n|\v|\f|\u2028|\u2029)[ \t]*")


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Where in a file a block stands; the fields are those of `MediaAnchor`."""

    page: int | None = None
    box: tuple[float, ...] | None = None
    sheet: str | None = None
    cell: str | None = None
    paragraph: int | None = None
    member: str | None = None


NOWHERE = BlockPlace()


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """Markdown. Texts of the same `group`, such as the rows of one table, follow each other without an empty line."""

    text: str
    place: BlockPlace = NOWHERE
    group: str = ""
    inner: Sequence[tuple[int, int, BlockPlace]] = ()
    """Begin, end and place of pieces of the text, such as its lines."""


@dataclass(frozen=True, slots=True)
class PageStart:
    """The begin of a page or slide, whose blocks follow. `mark` stands before them, such as "[slide 2]", or is ""."""

    number: int
    mark: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture inside of the file. `alt` is its description there, `name` the path of it or of its reference."""

    data: bytes
    name: str
    place: BlockPlace = NOWHERE
    alt: str = ""


@dataclass(frozen=True, slots=True)
class PageScan:
    """The image of a page without text: it is read, else shown, else lost."""

    data: bytes
    name: str
    place: BlockPlace
    group: str = ""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file inside of the file, such as an attachment. `data` is None if it is too large to be read."""

    data: bytes | None
    name: str
    place: BlockPlace = NOWHERE
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class LostContent:
    """Something that is not in the text: `count` of `total` "rows", say; `where` is "" or names the place.

    Totals of one kind are summed: 0 where another block has the total, None where it is unknown.
    """

    what: str
    count: float
    total: float | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class GuessedEncoding:
    """The encoding of texts of the file, which does not say it."""

    encoding: str


Block: TypeAlias = MarkdownText | PageStart | Picture | PageScan | AttachedFile | LostContent | GuessedEncoding


def clean(text: str) -> str:
    """Returns the text without NULs and control characters, and with U+FFFD for lone surrogates."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _NOT_TEXT.sub("", text)


def heading(text: str, level: int, place: BlockPlace = NOWHERE) -> MarkdownText:
    """Returns a Markdown heading; levels below 6 are written as 6."""
    line = " ".join(text.split())
    return MarkdownText(f"{'#' * max(1, min(level, 6))} {line}" if line else "", place)


def list_item(text: str, marker: str, depth: int, place: BlockPlace = NOWHERE) -> MarkdownText:
    """Returns an item of a list; `depth` counts from 0, `marker` is "-" or "3."."""
    indent = "  " * min(depth, 8)
    body = _LINES.sub("\n" + indent + "  ", text.strip())
    return MarkdownText(f"{indent}{marker} {body}" if body else "", place, "list")


def fenced(text: str, language: str = "", place: BlockPlace = NOWHERE) -> MarkdownText:
    """Returns a block of code, in a fence that the code does not contain."""
    fence = "`" * max(3, 1 + max((len(found) for found in re.findall(r"`{3,}", text)), default=0))
    return MarkdownText(f"{fence}{language}\n{text}\n{fence}", place)


def table(rows: Iterable[tuple[Sequence[str], BlockPlace]], name: str) -> Iterator[MarkdownText]:
    """Yields the rows of a table, the first one as its header. `name` differs from that of the table before."""
    width = 0
    for number, (cells, place) in enumerate(rows):
        if number == 0:
            width = max(1, len(cells))
        yield MarkdownText(_row(cells, width), place, name)
        if number == 0:
            yield MarkdownText("|" + " --- |" * width, NOWHERE, name)


def inner_row(cells: Sequence[str]) -> str:
    """Returns a row of a table that stands in a cell of another one, as a line of it; "" for one without text."""
    texts = [" ".join(cell.split()) for cell in cells]
    return " | ".join(texts) if any(texts) else ""


def _row(cells: Sequence[str], width: int) -> str:
    """Returns a row of at least `width` cells; line breaks become <br>, as Markdown has no other way."""
    texts = [_LINES.sub("<br>", cell.strip()).replace("|", r"\|") for cell in cells]
    return "| " + " | ".join(texts + [""] * (width - len(texts))) + " |"
