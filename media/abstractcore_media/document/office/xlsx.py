"""XLSX: the cells of all sheets, hidden ones too, with comments, pictures and charts (ECMA-376, part 1).

A cell shows its cached value; a formula that no program has computed shows the formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, heading, table
from ..format_handler import DocumentFile
from ..sheets import SheetRow, TableBudget, column_index, column_name
from .cell_formats import CellFormats
from .charts import chart_rows
from .package import Package
from .pictures import picture_of

_ROW = re.compile(rb"<(?:\w+:)?row[\s>/]")


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a workbook, sheet by sheet."""
    package = Package(file, "Excel workbook")
    main = package.whole(package.main, "workbook")
    relations = package.relationships(package.main)
    strings = _shared_strings(package)
    is_1904 = any(each.get("date1904") in ("1", "true") for each in main.iter("workbookPr"))
    formats = CellFormats(package, package.related(package.main, "styles"), is_1904=is_1904)
    budget = TableBudget(file.work)
    for sheet in main.iter("sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation is None or not package.has(relation.target):
            continue
        name = sheet.get("name", "") or "sheet"
        hidden = " (hidden)" if sheet.get("state", "visible") != "visible" else ""
        yield heading(f"{name}{hidden}", 2, BlockPlace(sheet=name))
        yield from _sheet(package, relation.target, name, strings, formats, budget)


def _sheet(
    package: Package, path: str, name: str, strings: list[str], formats: CellFormats, budget: TableBudget
) -> Iterator[Block]:
    comments = _comments(package, path)
    chunks = package.chunks(path)  # only to count rows beyond the budget
    rows = _rows(package.elements(path, "row"), strings, formats, comments)
    counted: list[int] = []

    def further() -> Iterator[int]:
        yield _rows_in(chunks) - counted[-1]

    def counting() -> Iterator[SheetRow]:
        for number, row in enumerate(rows, 1):
            counted.append(number)
            yield row

    yield from budget.blocks(name, counting(), further())
    drawing = package.related(path, "drawing")
    if drawing:
        yield from _drawing(package, drawing, name)


def _rows(
    elements: Iterator[Element], strings: list[str], formats: CellFormats, comments: dict[str, str]
) -> Iterator[SheetRow]:
    number = 0
    for element in elements:
        given = element.get("r", "")
        number = int(given) if given.isdecimal() and len(given) < 8 else number + 1
        cells: dict[int, str] = {}
        column = -1
        for cell in element.iterfind("c"):
            address = cell.get("r", "")
            column = column_index(address) if address else column + 1
            text = _value(cell, strings, formats)
            comment = comments.get(address)
            if comment:
                text = f"{text} [comment: {comment}]".strip()
            if text and column >= 0:
                cells[column] = text
        if cells:
            yield SheetRow(number, cells)


def _value(cell: Element, strings: list[str], formats: CellFormats) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _string(cell.find("is"))
    value = cell.findtext("v")
    if value is None or value == "":
        formula = cell.findtext("f")
        return f"={formula}" if formula else ""
    if kind == "s":
        return strings[int(value)] if value.isdecimal() and int(value) < len(strings) else ""
    if kind == "b":
        return "TRUE" if value in ("1", "true") else "FALSE"
    return formats.shown(value, cell.get("s", "")) if kind == "n" else value


def _shared_strings(package: Package) -> list[str]:
    path = package.related(package.main, "sharedStrings")
    return [_string(each) for each in package.elements(path, "si")] if path else []


def _string(element: Element | None) -> str:
    """Returns the text of a string, without the readings of East Asian words beside it."""
    if element is None:
        return ""
    return "".join(each.text or "" for child in element if child.tag != "rPh" for each in child.iter("t"))


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
                yield from table(chart_rows(package, relation.target, place), f"{sheet} chart {number}")
        yield from picture_of(anchor, package, relations, place)
        texts = ("".join(each.text or "" for each in paragraph.iter("t")) for paragraph in anchor.iter("p"))
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
