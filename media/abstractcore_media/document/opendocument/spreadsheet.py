"""ODS: the cells of all sheets, hidden ones too. A formula that no program has computed shows the formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, heading
from ..format_handler import DocumentFile
from ..sheets import MAX_COLUMNS, SheetRow, TableBudget, column_name
from .frames import background, cell_text, edges, inner_shapes
from .package import OpenDocument
from .paragraphs import comment_of
from .vocabulary import OPEN_DOCUMENT

VOCABULARY = replace(OPEN_DOCUMENT, places={"table:table": "sheet name"})

_MAX_REPEATS = 1000
"""Rows with content that one element may stand for; programs repeat blank rows only."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of an OpenDocument spreadsheet, sheet by sheet."""
    package = OpenDocument(file, "OpenDocument spreadsheet")
    budget = TableBudget(file.work)
    yield from edges(package, "header")
    wanted = frozenset({"table-row", "style", "shapes", "title", "desc"})
    events = package.elements("content.xml", wanted, frozenset({"table"}))
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
        yield from budget.blocks(name, reader.rows(), reader.rest())
        yield from reader.drawn
        sheet = reader.following
    yield from edges(package, "footer")
    yield from background(package)
    yield from package.account()


class _Sheet:
    """The rows of one sheet, until the next one begins."""

    def __init__(self, events: Iterator[Element], package: OpenDocument, name: str) -> None:
        self._events = events
        self._package = package
        self._name = name
        self.drawn: list[Block] = []
        self.following: Element | None = None

    def rows(self) -> Iterator[SheetRow]:
        number = 0
        for event in self._own():
            if event.tag == "shapes":
                place = BlockPlace(sheet=self._name)
                self.drawn += inner_shapes(event, self._package, place, f"{self._name} shape")
            elif event.tag in ("title", "desc"):
                self.drawn.append(MarkdownText(event.text or "", BlockPlace(sheet=self._name)))
            elif event.tag == "table-row":
                repeats = _repeats(event, "number-rows-repeated", 1 << 21)
                cells = self._cells(event, number + 1)
                for offset in range(min(repeats, _MAX_REPEATS) if cells else 0):
                    yield SheetRow(number + offset + 1, cells)
                if cells and repeats > _MAX_REPEATS:
                    where = f"{self._name}: repeats of row {number + 1}"
                    self.drawn.append(LostContent("rows", repeats - _MAX_REPEATS, repeats - _MAX_REPEATS, where))
                number += repeats

    def rest(self) -> Iterator[int]:
        """Counts the rows with content that were not read."""
        for event in self._own():
            if event.tag == "table-row" and any(each.tag == "p" for each in event.iter()):
                yield min(_repeats(event, "number-rows-repeated", 1 << 21), _MAX_REPEATS)

    def _own(self) -> Iterator[Element]:
        for event in self._events:
            if event.tag == "table":
                self.following = event
                return
            yield event

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
            place = BlockPlace(sheet=self._name, cell=f"{column_name(column)}{number}")
            self.drawn += inner_shapes(cell, self._package, place, f"{self._name} {place.cell}")
            column += repeats
        return cells


def _shown(cell: Element) -> str:
    """Returns the text of a cell as its program showed it, else its value, else its formula."""
    text = cell_text(cell)
    if not text:
        formula = cell.get("formula", "")
        text = cell.get("value") or cell.get("date-value") or cell.get("string-value") or formula.partition(":")[2]
    for comment in cell.iterfind("annotation"):
        text = f"{text} {comment_of(comment)}".strip()
    return text


def _repeats(element: Element, name: str, limit: int) -> int:
    value = element.get(name, "1")
    return min(int(value), limit) if value.isdecimal() and len(value) < 10 else 1
