"""Divides a text into rows, columns and pages of characters of one width."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

from .geometry import Cell, PageSize

CONTINUED, TAB = "\u21aa", "\u21e5"
"""Stand before a row that continues the one above, and for a tab."""
GAP = 3
"""Characters between two columns; a line is drawn in the middle."""
MARGIN = 4
"""Pixels around the text of a page."""
_TAB_STOP = 4
_NARROWEST, _NARROW = 24, 56
"""Characters of a column, at least; and of one in which many lines continue."""
_FEW_CONTINUED = 1.05
"""Rows for each line, up to which few lines continue."""
_MORE_COLUMNS = 0.92
"""What one column more must save: the rows of fewer columns are easier to follow."""
_LINE_BREAK = re.compile("\r\n?|\u2028|\u2029")


@dataclass(frozen=True, slots=True)
class Columns:
    """How a page is divided: `count` columns of `width` characters and `rows` rows."""

    count: int
    width: int
    rows: int


def normal_lines(text: str, codes: Mapping[int, str]) -> list[str]:
    """Returns the lines of a text as they are drawn: tabs as marks, and characters without a glyph as their `codes`."""
    text = _LINE_BREAK.sub("\n", text).strip("\n")
    if codes:
        text = text.translate(codes)
    return [_with_tabs(line) if "\t" in line else line.rstrip() for line in text.split("\n")]


def composed(text: str) -> str:
    """Returns the text with letters and their accents as one character, where there is one."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def codes_of(characters: Counter[str], drawable: frozenset[int]) -> dict[int, str]:
    """Returns the codes, such as "[U+1F600]", of characters that the font does not have."""
    return {
        ord(each): f"[U+{ord(each):04X}]" for each in characters if ord(each) not in drawable and each not in "\n\r\t"
    }


def columns_for(lines: Sequence[str], size: PageSize, cell: Cell) -> Columns:
    """Returns the division of pages on which the lines need the least room."""
    across = (size.width - 2 * MARGIN) // cell.width
    rows = max(1, (size.height - 2 * MARGIN) // cell.height)
    lengths = Counter(map(len, lines))
    best, count = _room(lengths, across), 1
    for more in range(2, (across + GAP) // (_NARROWEST + GAP) + 1):
        width = (across + GAP) // more - GAP
        room = _room(lengths, width) / more
        if width < _NARROW and room * more > len(lines) * _FEW_CONTINUED:
            break
        if room < best * _MORE_COLUMNS:
            best, count = room, more
    return Columns(count, (across + GAP) // count - GAP, rows)


def needed_pages(lines: Sequence[str], columns: Columns) -> float:
    """Returns about how many pages the lines fill."""
    return _room(Counter(map(len, lines)), columns.width) / (columns.count * columns.rows)


def pages(lines: Sequence[str], columns: Columns) -> Iterator[list[str]]:
    """Yields the rows of each page, those of the first column first."""
    page: list[str] = []
    for line in lines:
        for row in wrapped(line, columns.width):
            page.append(row)
            if len(page) == columns.count * columns.rows:
                yield page
                page = []
    if page:
        yield page


def wrapped(line: str, width: int) -> Iterator[str]:
    """Yields the rows of a line, broken at spaces where there are some; all characters are kept."""
    room, start, mark = width, 0, ""
    while len(line) - start > room:
        space = line.rfind(" ", start + room // 2, start + room + 1)
        end = start + room if space < 0 else space + 1
        yield mark + line[start:end].rstrip()
        start, mark, room = end, CONTINUED, width - 1
    yield mark + line[start:]


def _room(lengths: Counter[int], width: int) -> int:
    """Returns about how many rows lines of these lengths need in a column."""
    return sum(count * max(1, -(-length // width)) for length, count in lengths.items())


def _with_tabs(line: str) -> str:
    drawn = ""
    *pieces, last = line.split("\t")
    for piece in pieces:
        drawn += piece + TAB
        drawn += " " * (-len(drawn) % _TAB_STOP)
    return drawn + last.rstrip()
