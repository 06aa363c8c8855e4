"""ODS: the cells of all sheets, hidden ones too, as the program showed them that wrote the file.

What such a text hides of the value follows it. A formula that no program has computed shows the formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, heading
from ..format_handler import DocumentFile
from ..sheets import (
    MAX_COLUMNS,
    SheetRow,
    TableBudget,
    column_name,
    hidden_columns,
    not_calculated,
    with_hidden_mark,
)
from ..shown_values import text_of_date, text_of_duration, text_of_number
from .frames import MasterPages, cell_text, inner_shapes
from .package import OpenDocument
from .paragraphs import comment_of
from .vocabulary import OPEN_DOCUMENT

VOCABULARY = replace(OPEN_DOCUMENT, places={"table:table": "sheet name"})

_WANTED = frozenset({"table-row", "table-column", "style", "shapes", "title", "desc"})
_INVISIBLE = ("collapse", "filter")
_MAX_REPEATS = 1000
"""Rows with content that one element may stand for; programs repeat blank rows only."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of an OpenDocument spreadsheet, sheet by sheet."""
    package = OpenDocument(file, "OpenDocument spreadsheet")
    budget = TableBudget(file.work)
    masters = MasterPages(package)
    yield from masters.blocks("header")
    events = package.elements("content.xml", _WANTED, frozenset({"table"}))
    hidden: set[str] = set()
    sheet: Element | None = None
    for event in events:
        if event.tag == "style":
            if any(each.get("display") == "false" for each in event.iter("table-properties")):
                hidden.add(event.get("name", ""))
        elif event.tag == "table":
            sheet = event
            break
    while sheet is not None:
        name = sheet.get("name", "") or "sheet"
        is_hidden = sheet.get("style-name", "") in hidden or sheet.get("display") == "false"
        yield heading(f"{name}{' (hidden)' if is_hidden else ''}", 2, BlockPlace(sheet=name))
        reader = _Sheet(events, package, name)
        yield reader.hidden_columns()
        yield from budget.blocks(name, reader.rows(), reader.rest())
        yield from reader.drawn
        sheet = reader.following
    yield from masters.blocks("footer")
    yield from masters.blocks("background")
    yield from package.account()


class _Sheet:
    """The rows of one sheet, until the next one begins."""

    def __init__(self, events: Iterator[Element], package: OpenDocument, name: str) -> None:
        self._package = package
        self._name = name
        self.drawn: list[Block] = []
        self.following: Element | None = None
        self._hidden: list[tuple[int, int]] = []
        self._columns = 0
        rows = self._rows_of(events)
        first = next(rows, None)  # columns stand before it
        self._rows = rows if first is None else chain((first,), rows)

    def hidden_columns(self) -> MarkdownText:
        """Returns the mark of the columns that the sheet does not show."""
        return hidden_columns(self._hidden, BlockPlace(sheet=self._name))

    def rows(self) -> Iterator[SheetRow]:
        number = 0
        for row in self._rows:
            repeats = _repeats(row, "number-rows-repeated", 1 << 21)
            cells = self._cells(row, number + 1)
            shown = with_hidden_mark(cells) if cells and row.get("visibility") in _INVISIBLE else cells
            for offset in range(min(repeats, _MAX_REPEATS) if cells else 0):
                yield SheetRow(number + offset + 1, shown)
            if cells and repeats > _MAX_REPEATS:
                where = f"{self._name}: repeats of row {number + 1}"
                self.drawn.append(LostContent("rows", repeats - _MAX_REPEATS, repeats - _MAX_REPEATS, where))
            number += repeats

    def rest(self) -> Iterator[int]:
        """Counts the rows with content that were not read."""
        for row in self._rows:
            if any(each.tag == "p" for each in row.iter()):
                yield min(_repeats(row, "number-rows-repeated", 1 << 21), _MAX_REPEATS)

    def _rows_of(self, events: Iterator[Element]) -> Iterator[Element]:
        """Yields the rows of this sheet; takes note of all else."""
        for event in events:
            if event.tag == "table-row":
                yield event
            elif event.tag == "table":
                self.following = event
                return
            elif event.tag == "table-column":
                repeats = _repeats(event, "number-columns-repeated", MAX_COLUMNS)
                if event.get("visibility") in _INVISIBLE:
                    self._hidden.append((self._columns, self._columns + repeats - 1))
                self._columns += repeats
            elif event.tag == "shapes":
                place = BlockPlace(sheet=self._name)
                self.drawn += inner_shapes(event, self._package, place, f"{self._name} shape")
            elif event.tag in ("title", "desc"):
                self.drawn.append(MarkdownText(event.text or "", BlockPlace(sheet=self._name)))

    def _cells(self, row: Element, number: int) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            if cell.tag not in ("table-cell", "covered-table-cell"):
                continue
            repeats = _repeats(cell, "number-columns-repeated", MAX_COLUMNS)
            text = _shown(cell)
            if text:
                for offset in range(min(repeats, MAX_COLUMNS - column)):
                    cells[column + offset] = text
            if _has_more_than_text(cell):
                place = BlockPlace(sheet=self._name, cell=f"{column_name(column)}{number}")
                self.drawn += inner_shapes(cell, self._package, place, f"{self._name} {place.cell}")
            column += repeats
        return cells


def _has_more_than_text(cell: Element) -> bool:
    return len(cell) > 1 or (len(cell) == 1 and (cell[0].tag != "p" or len(cell[0]) > 0))


def _shown(cell: Element) -> str:
    """Returns the text of a cell as its program showed it, else its value, else its formula."""
    text = _value(cell, cell_text(cell)) if len(cell) else _value(cell, "")
    if not _has_more_than_text(cell):
        return text
    for comment in cell.iterfind("annotation"):
        text = f"{text} {comment_of(comment)}".strip()
    return text


def _value(cell: Element, text: str) -> str:
    kind, formula = cell.get("value-type", ""), cell.get("formula", "")
    if kind in ("float", "percentage", "currency"):
        return text_of_number(text, cell.get("value", ""), is_computed=bool(formula))
    if kind == "date":
        return text_of_date(text, cell.get("date-value", ""))
    if kind == "time":
        return text_of_duration(text, cell.get("time-value", ""))
    if kind == "boolean":
        return text or cell.get("boolean-value", "").upper()
    text = text or cell.get("string-value", "")
    return not_calculated(formula.partition(":")[2].removeprefix("=")) if formula and not (text or kind) else text


def _repeats(element: Element, name: str, limit: int) -> int:
    value = element.get(name)
    return min(int(value[:20]), limit) if value and value.isdecimal() else 1
