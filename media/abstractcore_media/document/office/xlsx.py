"""XLSX: the cells of all sheets, hidden ones too, with comments, pictures and charts (ECMA-376, part 1).

A cell shows its cached value by its number format; a formula that no program has computed shows the formula, marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, heading
from ..format_handler import DocumentFile
from ..marks import PLAIN, MarkedText, marked
from ..sheets import (
    SheetRow,
    TableBudget,
    column_index,
    column_name,
    hidden_columns,
    not_calculated,
    with_hidden_mark,
)
from ..vocabularies import LossCounter
from ..xml_elements import text_inside
from .cell_formats import CellFormats, at, font_marks
from .charts import chart_blocks
from .drawing_text import paragraph_text
from .package import Package
from .pictures import picture_of
from .sheet_parts import AFTER_ROWS, People, blocks_after_rows, comments_of, links_of
from .vocabulary import OFFICE

VOCABULARY = OFFICE

_PARTS = re.compile(rb"<(?:\w+:)?(row|dataValidation|headerFooter)[\s>/]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_HYPERLINK = re.compile(r'HYPERLINK\(\s*"((?:https?|ftp|mailto):(?:[^"]|""){1,2000})"', re.IGNORECASE)
_TRUE = ("1", "true")


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a workbook, sheet by sheet."""
    package = Package(file, "Excel workbook")
    main = package.whole(package.main, "workbook")
    relations = package.relationships(package.main)
    strings = _shared_strings(package)
    is_1904 = any(each.get("date1904") in _TRUE for each in main.iter("workbookPr"))
    formats = CellFormats(package, package.related(package.main, "styles"), is_1904=is_1904)
    is_stale = any(each.get("fullCalcOnLoad") in _TRUE for each in main.iter("calcPr"))
    reader = _SheetReader(package, _Cells(strings, formats, package.losses, is_stale=is_stale))
    for sheet in main.iter("sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation is None or not package.has(relation.target):
            continue
        name = sheet.get("name", "") or "sheet"
        hidden = " (hidden)" if sheet.get("state", "visible") != "visible" else ""
        yield heading(f"{name}{hidden}", 2, BlockPlace(sheet=name))
        yield from reader.blocks(relation.target, name)


class _SheetReader:
    """Reads the sheets of a workbook, one after another."""

    def __init__(self, package: Package, cells: _Cells) -> None:
        self._package = package
        self._cells = cells
        self._people = People(package)
        self._budget = TableBudget(package.work)

    def blocks(self, path: str, name: str) -> Iterator[Block]:
        """Yields the rows of a sheet, what stands after them, and what is drawn on it."""
        package = self._package
        package.losses.place = f"sheet {name}"
        relations = package.relationships(path)
        self._cells.begin_sheet(comments_of(package, relations, self._people), links_of(package, path, relations))
        chunks = package.chunks(path)  # only to count rows beyond the budget
        elements = package.elements(path, "cols", "row", *AFTER_ROWS)
        first = next(elements, None)
        if first is not None and first.tag == "cols":
            hidden = [_columns(each) for each in first if each.get("hidden") in _TRUE]
            yield hidden_columns(hidden, BlockPlace(sheet=name))
        elif first is not None:
            elements = chain((first,), elements)
        counted: list[int] = []
        others: list[Element] = []

        def further() -> Iterator[int]:
            rows, has_others = _rows_in(chunks)
            others.extend(package.elements(path, *AFTER_ROWS) if has_others else ())
            yield rows - counted[-1]

        def counting() -> Iterator[SheetRow]:
            for number, row in enumerate(_rows(elements, self._cells, others), 1):
                counted.append(number)
                yield row

        yield from self._budget.blocks(name, counting(), further())
        yield from blocks_after_rows(others, name)
        drawing = package.related(path, "drawing")
        if drawing:
            yield from _drawing(package, drawing, name)


def _rows(elements: Iterator[Element], cells: _Cells, others: list[Element]) -> Iterator[SheetRow]:
    """Yields the rows with content; takes the elements that are no rows into `others`."""
    number = 0
    for element in elements:
        if element.tag != "row":
            others.append(element)
            continue
        given = element.get("r", "")
        number = int(given) if given.isdecimal() and len(given) < 8 else number + 1
        texts: dict[int, str] = {}
        column = -1
        for cell in element:
            if cell.tag != "c":
                continue
            address = cell.get("r", "")
            column = column_index(address) if address else column + 1
            text = cells.text(cell, address)
            if text and column >= 0:
                texts[column] = text
            elif text:
                cells.losses.count("cells outside of the sheet")
        if texts:
            yield SheetRow(number, with_hidden_mark(texts) if element.get("hidden") in _TRUE else texts)


class _Cells:
    """The texts of cells. Comments and links are those of one sheet, by the names of its cells."""

    def __init__(self, strings: list[str], formats: CellFormats, losses: LossCounter, *, is_stale: bool) -> None:
        self.losses = losses
        self._strings = strings
        self._is_stale = is_stale
        self._formats = formats
        self._comments: Mapping[str, str] = {}
        self._links: Mapping[str, str] = {}

    def begin_sheet(self, comments: Mapping[str, str], links: Mapping[str, str]) -> None:
        self._comments, self._links = comments, links

    def text(self, cell: Element, address: str) -> str:
        """Returns the text of a cell, with its marks, its link and its comment."""
        formula, style = cell.find("f"), cell.get("s", "")
        text = self._value(cell, style, formula)
        if text:
            marks = self._formats.marks(style)
            if marks is not PLAIN:
                text = marked(text, marks)
            link = self._links.get(address) if self._links else None
            if formula is not None and not link:
                link = _linked_by(formula.text or "")
            if link:
                text = f"[{text}]({link})"
        comment = self._comments.get(address) if self._comments else None
        return f"{text} {comment}".strip() if comment else text

    def _value(self, cell: Element, style: str, formula: Element | None) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return self._formats.text(_string(cell.find("is")), style)
        value = cell.findtext("v")
        if formula is not None and self._is_not_calculated(kind, value):
            return not_calculated(formula.text or "")
        if value is None or value == "":
            return ""
        if kind == "n":
            return self._formats.shown(value, style, is_computed=formula is not None)
        if kind == "b":
            return "TRUE" if value in _TRUE else "FALSE"
        if kind == "s":
            value = at(self._strings, value) or ""
        if kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00")
        if kind == "str":
            value = _unescaped(value)
        return self._formats.text(value, style) if kind in ("s", "str") else value

    def _is_not_calculated(self, kind: str, value: str | None) -> bool:
        """Returns whether the value of a formula is not known; libraries write 0 for Excel to compute it on opening."""
        if kind == "str":
            return value is None
        return not value or (self._is_stale and kind == "n" and value == "0")


def _shared_strings(package: Package) -> list[str]:
    path = package.related(package.main, "sharedStrings")
    return [_string(each) for each in package.elements(path, "si")] if path else []


def _string(element: Element | None) -> str:
    """Returns the text of a string, without the readings of East Asian words beside it."""
    if element is None:
        return ""
    found = MarkedText()
    for child in element:
        if child.tag == "t":
            found.add(child.text or "")
        elif child.tag == "r":
            found.add(text_inside(child, "t"), font_marks(child.find("rPr")))
    return _unescaped(found.taken())


def _unescaped(text: str) -> str:
    """Returns a text without the codes of characters that XML does not allow, such as _x000D_."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _columns(element: Element) -> tuple[int, int]:
    first, last = element.get("min", ""), element.get("max", "")
    return (int(first) - 1, int(last) - 1) if first.isdecimal() and last.isdecimal() else (-1, -1)


def _linked_by(formula: str) -> str:
    found = _HYPERLINK.match(formula) if formula.startswith("HYPERLINK(") else None
    return found[1].replace('""', '"') if found else ""


def _drawing(package: Package, path: str, sheet: str) -> Iterator[Block]:
    relations = package.relationships(path)
    for number, anchor in enumerate(package.elements(path, "twoCellAnchor", "oneCellAnchor", "absoluteAnchor"), 1):
        place = BlockPlace(sheet=sheet, cell=_corner(anchor.find("from")))
        for each in anchor.iter("chart"):
            relation = relations.get(each.get("r:id", ""))
            if relation is not None:
                yield from chart_blocks(package, relation.target, place, f"{sheet} chart {number}")
        yield from picture_of(anchor, package, relations, place)
        texts = (paragraph_text(paragraph, relations) for paragraph in anchor.iter("p"))
        yield MarkdownText("\n".join(filter(str.strip, texts)), place)
        if anchor.find(".//oleObj") is not None:
            yield LostContent("embedded objects", 1, where=sheet)


def _corner(element: Element | None) -> str | None:
    column, row = (element.findtext("col", ""), element.findtext("row", "")) if element is not None else ("", "")
    if not (column.isdecimal() and row.isdecimal() and len(column) < 6 and len(row) < 8):
        return None
    return f"{column_name(int(column))}{int(row) + 1}"


def _rows_in(chunks: Iterator[bytes]) -> tuple[int, bool]:
    """Returns how many rows the XML of a sheet has, and whether something stands after them.

    A tag on the border of two chunks is counted once.
    """
    count, has_others, tail = 0, False, b""
    for chunk in chunks:
        text = tail + chunk
        found = _PARTS.findall(text)
        rows = found.count(b"row")
        count += rows
        has_others |= rows < len(found)
        cut = max(text.rfind(b"<"), len(text) - 64)
        tail = b"" if _PARTS.match(text[cut:]) else text[cut:]
    return count, has_others
