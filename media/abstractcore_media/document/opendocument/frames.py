"""What frames of OpenDocument files hold: pictures, tables, text boxes, charts and other objects."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, Picture, inner_row, table
from ..equations import in_markdown, latex_of_mathml
from ..office.charts import ChartSeries, series_rows
from ..sheets import column_index
from .package import OpenDocument
from .paragraphs import shapes_in, text_of, texts_of
from .references import SHAPES, outermost
from .vocabulary import FIELDS

_NO_NUMBER = "NaN"
"""What charts have in the cells of missing values."""
_EDGES = frozenset(f"{kind}{side}" for kind in ("header", "footer") for side in ("", "-first", "-left"))
_ON_MASTERS = SHAPES | _EDGES | {"page-layout-properties"}
_IN_OBJECTS = frozenset({"chart", "table", "math"})
_LARGEST_CHART = 10_000
"""Points of a series with x values of its own."""
_OWN_COLUMN = re.compile(r"local-table\.\$?([A-Z]{1,3})\$?\d")
_CHARTS = {"circle": "pie", "ring": "doughnut", "filled-radar": "radar"}
"""Kinds of charts whose common names are others."""


class MasterPages:
    """The texts on the pages or slides of all masters, each once, and the sizes of the pages."""

    def __init__(self, package: OpenDocument) -> None:
        self.sizes: list[Element] = []
        self._blocks: dict[str, dict[str, Block]] = {"header": {}, "footer": {}, "background": {}}
        for element in package.elements("styles.xml", _ON_MASTERS):
            if element.tag == "page-layout-properties":
                self.sizes.append(element)
            elif element.tag not in SHAPES:
                self._add(element.tag.partition("-")[0], element, package)
            elif element.get("class") is None:  # others say what to fill in
                self._add("background", element, package)

    def blocks(self, kind: str) -> Iterator[Block]:
        """Yields the texts of headers, footers or backgrounds, and what is lost there."""
        yield from self._blocks[kind].values()

    def _add(self, kind: str, element: Element, package: OpenDocument) -> None:
        found = self._blocks[kind]
        text = " ".join(all_texts(element).split()) if element.tag in SHAPES or _has_own_text(element) else ""
        if text:  # not fields only, such as the number of a page
            found[text] = MarkdownText(f"[{kind}: {text}]", BlockPlace(member=kind), kind)
        for tag, what in (("image", "pictures"), ("object", "embedded objects")):
            for each in element.iter(tag):
                path = each.get("href", "")
                package.passes(path)
                found[f"{what} {len(found)}"] = LostContent(what, 1, where=f"{kind}: {path}" if path else kind)


def _has_own_text(element: Element) -> bool:
    """Returns whether there is a text beside that of fields, such as the number of a page."""
    return any(
        bool((each.text or "").strip()) or any((child.tail or "").strip() for child in each)
        for each in element.iter()
        if each.tag not in FIELDS
    )


def all_texts(element: Element) -> str:
    """Returns the texts of an element and of the shapes in it, a line each."""
    if element.tag == "measure" and (text := text_of(element)):
        return text
    named = (alternative_text(each) for each in (element, *element.iterfind("table")))
    return "\n".join(filter(None, (texts_of(element), *named, *map(all_texts, shapes_in(element)))))


def frame_blocks(frame: Element, package: OpenDocument, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the blocks of a frame. `name` is that of a table in it."""
    if frame.tag != "frame":  # a shape with a text, or a group of shapes
        yield MarkdownText(texts_of(frame) or text_of(frame), place)
        yield from _description(frame, place)
        yield from inner_shapes(frame, package, place, name)
        return
    tables = frame.findall("table")
    for each in tables:
        yield from table_blocks(each, place, name)
    found = frame.find("object")
    if found is not None:
        yield from _object(found, package, place, name)
        return
    images = frame.findall("image")
    if not images:
        yield from _description(frame, place)
    if images and not tables:
        yield _picture(frame, images.pop(0), package, place)
    for image in images:  # they show the same in another format
        package.passes(image.get("href", ""))
    for box in frame.iterfind("text-box"):
        yield MarkdownText(texts_of(box), place)
        yield from inner_shapes(box, package, place, name)


def alternative_text(element: Element) -> str:
    """Returns the title and the description of something that is drawn, "" if it has none."""
    return " ".join(filter(None, (element.findtext("title"), element.findtext("desc"))))


def _description(shape: Element, place: BlockPlace) -> Iterator[Block]:
    text = alternative_text(shape)
    if text.strip():
        yield MarkdownText(f"[shape: {text}]", place)


def inner_shapes(element: Element, package: OpenDocument, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the blocks of the shapes in an element, such as a cell."""
    for number, inner in enumerate(shapes_in(element), 1):
        yield from frame_blocks(inner, package, place, f"{name}.{number}")


def table_blocks(element: Element, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the title and the rows of a table of a text or a presentation."""
    if title := alternative_text(element):
        yield MarkdownText(title, place)
    yield from table(_placed_rows(element, place), name)


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
    texts = (cell_text(cell) for cell in row if cell.tag in ("table-cell", "covered-table-cell"))
    return ["" if text == _NO_NUMBER else text for text in texts]


def cell_text(cell: Element) -> str:
    """Returns the paragraphs of a cell, and the rows of tables in it, a line each, without shapes."""
    if len(cell) == 1 and cell[0].tag == "p":
        return text_of(cell[0])
    texts = (
        text_of(each) if each.tag in ("p", "h") else _inner_table(each) if each.tag == "table" else texts_of(each)
        for each in cell
        if each.tag not in SHAPES and each.tag != "annotation"
    )
    return "\n".join(filter(None, texts))


def _inner_table(element: Element) -> str:
    return "\n".join(filter(None, (alternative_text(element), *(inner_row(_cells(row)) for row in _rows(element)))))


def _picture(frame: Element, image: Element, package: OpenDocument, place: BlockPlace) -> Block:
    path = image.get("href", "")
    alt = alternative_text(frame)
    inline = image.findtext("binary-data")
    data = _decoded(inline) if inline else b"" if "://" in path else package.read(path)
    return Picture(data, path, place, alt) if data else LostContent("pictures", 1, where=path or "a picture")


def _decoded(text: str) -> bytes:
    """Returns the content of a picture that stands in the XML, b"" if that is not base64."""
    try:
        return b64decode(text)
    except ValueError:
        return b""


def _object(found: Element, package: OpenDocument, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the titles of a chart and the table behind it, or the text of a formula; other objects are lost."""
    path = found.get("href", "").removeprefix("./").rstrip("/")
    part = f"{path}/content.xml"
    is_known = False
    for content in package.elements(part, _IN_OBJECTS) if path else outermost(found, _IN_OBJECTS):
        is_known = True
        if content.tag == "table":
            yield from table_blocks(content, replace(place, member=path), name)
        elif content.tag == "math":
            yield MarkdownText(in_markdown(latex_of_mathml(content), is_block=True), place)
        else:
            inner = content.find("chart")  # the body of an object is called so, too
            yield from _chart(content if inner is None else inner, replace(place, member=path), name)
    if not is_known:
        yield LostContent("embedded objects", 1, where=path or name)


def _chart(chart: Element, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields a chart as those of Office: its kind and titles, and a table with a row for each category."""
    kind = chart.get("class", "").rpartition(":")[2]
    head = " ".join(filter(None, (_CHARTS.get(kind, kind), "chart")))
    title = chart.find("title")
    text = " ".join(all_texts(title).split()) if title is not None else ""
    axes: dict[str, str] = {}
    for axis in chart.iterfind("plot-area/axis"):
        if (found := axis.find("title")) is not None and (words := " ".join(all_texts(found).split())):
            axes.setdefault(axis.get("dimension", ""), words)
    named = [f"{dimension or 'axis'}: {words}" for dimension, words in axes.items()]
    yield MarkdownText(f"[{'; '.join((head + (f': {text}' if text else ''), *named))}]", place)
    for part in chart:
        if part.tag not in ("title", "plot-area", "table"):
            yield MarkdownText(all_texts(part), place)
    data = chart.find("table")
    if data is not None:
        yield MarkdownText(alternative_text(data), place)
        rows = list(map(_cells, _rows(data)))
        series = list(_series_with_x(chart, data, rows))
        if rows and rows[0] and not rows[0][0]:
            rows[0][0] = axes.get("x", "Chart")
        yield from table(((row, place) for row in (series_rows(series, named) if series else rows)), name)
    yield from (LostContent("pictures", 1, where=name) for _ in chart.iter("image"))
    yield from (LostContent("embedded objects", 1, where=name) for _ in chart.iter("object"))


def _series_with_x(chart: Element, data: Element, rows: Sequence[Sequence[str]]) -> Iterator[ChartSeries]:
    """Yields the series of points with x values of their own, in columns of the table; nothing for other charts."""
    across: dict[int, str] = {}
    named = _columns_by_source(data)
    for number, each in enumerate(chart.iter("series"), 1):
        ranges = [each, *each.iterfind("domain")]
        places = [
            _column(found.get("values-cell-range-address") or found.get("cell-range-address", ""), named)
            for found in ranges
        ]
        values, *domains = ({
            index: row[at] for index, row in enumerate(rows[1:_LARGEST_CHART]) if 0 < at < len(row) and row[at]
        } for at in places)  # fmt: skip
        across = domains[-1] if domains else across
        name = rows[0][places[0]] if 0 < places[0] < len(rows[0]) else ""
        if across and len(domains) > 1:  # of bubbles, whose size is the value
            yield ChartSeries(name or f"Series {number}", across, domains[0], values, is_xy=True)
        elif across:
            yield ChartSeries(name or f"Series {number}", across, values, {}, is_xy=True)


def _columns_by_source(data: Element) -> dict[str, int]:
    """Returns the columns of the table of a chart by the cells of a sheet that they have the values of."""
    first = next((row for row in _rows(data) if row.find("table-cell/g/desc") is not None), None)
    cells = first.iterfind("table-cell") if first is not None else ()
    return {cell.findtext("g/desc", ""): column for column, cell in enumerate(cells)}


def _column(address: str, named: Mapping[str, int]) -> int:
    own = _OWN_COLUMN.match(address)
    return column_index(own[1]) if own is not None else named.get(address, -1)
