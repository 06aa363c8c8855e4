"""XLSX: the cells of all sheets, hidden ones too, with comments, pictures and charts (ECMA-376, part 1).

A cell shows its cached value by its number format; a formula that no program has computed shows the formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, heading
from ..format_handler import DocumentFile
from ..marks import MarkedText, marked
from ..sheets import SheetRow, TableBudget, column_index, column_name, hidden_columns, with_hidden_mark
from ..xml_elements import text_inside
from .cell_formats import CellFormats, at, font_marks
from .charts import chart_blocks
from .drawing_text import paragraph_text
from .package import Package, Relationship
from .pictures import picture_of
from .vocabulary import OFFICE

VOCABULARY = OFFICE

_ROW = re.compile(rb"<(?:\w+:)?row[\s>/]")
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
    cells = _Cells(strings, formats)
    budget = TableBudget(file.work)
    for sheet in main.iter("sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation is None or not package.has(relation.target):
            continue
        name = sheet.get("name", "") or "sheet"
        hidden = " (hidden)" if sheet.get("state", "visible") != "visible" else ""
        yield heading(f"{name}{hidden}", 2, BlockPlace(sheet=name))
        yield from _sheet(package, relation.target, name, cells, budget)


def _sheet(package: Package, path: str, name: str, cells: _Cells, budget: TableBudget) -> Iterator[Block]:
    package.losses.place = f"sheet {name}"
    relations = package.relationships(path)
    cells.begin_sheet(_comments(package, path), _links(package, path, relations))
    chunks = package.chunks(path)  # only to count rows beyond the budget
    elements = package.elements(path, "cols", "row")
    first = next(elements, None)
    if first is not None and first.tag == "cols":
        yield hidden_columns([_columns(each) for each in first if each.get("hidden") in _TRUE], BlockPlace(sheet=name))
    elif first is not None:
        elements = chain((first,), elements)
    counted: list[int] = []

    def further() -> Iterator[int]:
        yield _rows_in(chunks) - counted[-1]

    def counting() -> Iterator[SheetRow]:
        for number, row in enumerate(_rows(elements, cells), 1):
            counted.append(number)
            yield row

    yield from budget.blocks(name, counting(), further())
    drawing = package.related(path, "drawing")
    if drawing:
        yield from _drawing(package, drawing, name)


def _rows(elements: Iterator[Element], cells: _Cells) -> Iterator[SheetRow]:
    number = 0
    for element in elements:
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
        if texts:
            yield SheetRow(number, with_hidden_mark(texts) if element.get("hidden") in _TRUE else texts)


class _Cells:
    """The texts of cells. Comments and links are those of one sheet, by the names of its cells."""

    def __init__(self, strings: list[str], formats: CellFormats) -> None:
        self._strings = strings
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
            text = marked(text, self._formats.marks(style))
            link = self._links.get(address) or (_linked_by(formula.text or "") if formula is not None else "")
            if link:
                text = f"[{text}]({link})"
        comment = self._comments.get(address)
        return f"{text} [comment: {comment}]".strip() if comment else text

    def _value(self, cell: Element, style: str, formula: Element | None) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return self._formats.text(_string(cell.find("is")), style)
        value = cell.findtext("v")
        if value is None or value == "":
            return f"={formula.text}" if formula is not None and formula.text else ""
        if kind == "n":
            return self._formats.shown(value, style, is_computed=formula is not None)
        if kind == "b":
            return "TRUE" if value in _TRUE else "FALSE"
        if kind == "s":
            value = at(self._strings, value) or ""
        return self._formats.text(value, style) if kind in ("s", "str") else value


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
    return found.taken()


def _columns(element: Element) -> tuple[int, int]:
    first, last = element.get("min", ""), element.get("max", "")
    return (int(first) - 1, int(last) - 1) if first.isdecimal() and last.isdecimal() else (-1, -1)


def _links(package: Package, path: str, relations: Mapping[str, Relationship]) -> dict[str, str]:
    """Returns the addresses that cells are linked to; the sheet is read for them only if it has some."""
    if not any(each.kind == "hyperlink" for each in relations.values()):
        return {}
    found = ((each.get("ref", ""), relations.get(each.get("r:id", ""))) for each in package.elements(path, "hyperlink"))
    return {ref.partition(":")[0]: each.target for ref, each in found if each is not None and each.is_external}


def _linked_by(formula: str) -> str:
    found = _HYPERLINK.match(formula) if formula.startswith("HYPERLINK(") else None
    return found[1].replace('""', '"') if found else ""


def _comments(package: Package, path: str) -> dict[str, str]:
    found = package.related(path, "comments")
    if not found:
        return {}
    return {
        each.get("ref", ""): " ".join("".join(text.text or "" for text in each.iter("t")).split())
        for each in package.elements(found, "comment")
    }


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


def _rows_in(chunks: Iterator[bytes]) -> int:
    """Returns how many rows the XML of a sheet has; a tag on the border of two chunks is counted once."""
    count, tail = 0, b""
    for chunk in chunks:
        text = tail + chunk
        count += len(_ROW.findall(text))
        cut = max(text.rfind(b"<"), len(text) - 64)
        tail = b"" if _ROW.match(text[cut:]) else text[cut:]
    return count
