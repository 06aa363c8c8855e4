"""What frames of OpenDocument files hold: pictures, tables, text boxes, charts and other objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, Picture, table
from .package import OpenDocument
from .paragraphs import text_of, texts_of

_IN_CELLS = ("p", "h", "list")


def frame_blocks(frame: Element, package: OpenDocument, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the blocks of a frame. `name` is that of a table in it."""
    if frame.tag != "frame":  # a shape with a text
        yield MarkdownText(texts_of(frame), place)
        return
    tables = frame.findall("table")
    for each in tables:
        yield from table_blocks(each, place, name)
    found = frame.find("object")
    if found is not None:
        yield from _object(found, package, place, name)
        return
    for image in frame.findall("image")[:1]:  # others show the same in another format
        if not tables:
            yield _picture(frame, image, package, place)
    for box in frame.iterfind("text-box"):
        yield MarkdownText(texts_of(box), place)
        for inner in box.iter("frame"):
            yield from frame_blocks(inner, package, place, f"{name}.1")
    if frame.find("plugin") is not None:
        yield LostContent("recordings", 1, where=name)


def table_blocks(element: Element, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the rows of a table of a text or a presentation."""
    yield from table(_placed_rows(element, place), name)
    for inner in inner_tables(element):
        yield from table_blocks(inner, place, f"{name}.1")


def inner_tables(element: Element) -> Iterator[Element]:
    """Yields the tables in the cells of a table, but not those in their cells."""
    for row in _rows(element):
        for cell in row:
            yield from cell.iterfind("table")


def _placed_rows(element: Element, place: BlockPlace) -> Iterator[tuple[list[str], BlockPlace]]:
    paragraph = place.paragraph
    for row in _rows(element):
        yield _cells(row), replace(place, paragraph=paragraph)
        if paragraph is not None:
            paragraph += sum(1 for _ in row.iter("p"))


def _rows(element: Element) -> Iterator[Element]:
    """Yields the rows of a table, which may be in groups, without those of tables in its cells."""
    for child in element:
        if child.tag == "table-row":
            yield child
        elif child.tag in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(child)


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag == "table-cell":
            texts = (texts_of(each) if each.tag == "list" else text_of(each) for each in cell if each.tag in _IN_CELLS)
            cells.append("\n".join(filter(None, texts)))
        elif cell.tag == "covered-table-cell":
            cells.append("")
    return cells


def _picture(frame: Element, image: Element, package: OpenDocument, place: BlockPlace) -> Block:
    path = image.get("href", "")
    alt = " ".join(filter(None, (frame.findtext("title"), frame.findtext("desc"))))
    data = b"" if "://" in path else package.read(path)
    return Picture(data, path, place, alt) if data else LostContent("pictures", 1, where=path or "a picture")


def _object(found: Element, package: OpenDocument, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the table behind a chart, or the text of a formula; other objects are lost."""
    path = found.get("href", "").removeprefix("./")
    part = f"{path}/content.xml"
    kinds = frozenset({"table", "math"})
    content = next(package.elements(part, kinds), None) if path else None
    if content is None:
        yield LostContent("embedded objects", 1, where=path or name)
    elif content.tag == "table":
        yield from table_blocks(content, replace(place, member=path), name)
    else:
        annotation = content.find(".//annotation")
        yield MarkdownText((annotation.text if annotation is not None else None) or text_of(content), place)
