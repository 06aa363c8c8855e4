"""Charts as tables of the values that their files keep (DrawingML charts, ECMA-376, part 1, 21.2; chartex)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, MarkdownText, table
from ..xml_elements import text_inside
from .cell_formats import number_text
from .package import Package

_MAX_POINTS = 10_000
_AXES = ("catAx", "dateAx", "valAx", "serAx")
_LAYOUTS = {"boxWhisker": "box and whisker", "clusteredColumn": "column", "paretoLine": "Pareto", "regionMap": "map"}
"""Names of the kinds of series in chartex where a reader would not find the word for them."""
_COMPUTED = "paretoLine"
"""A series that the program computes from another one."""
_DATE = "yyyy-mm-dd"
_NO_VALUE = ("", "NaN")
_NOTHING = Element("none")


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """Values by index. `across` are the categories or x values."""

    name: str
    across: dict[int, str]
    values: dict[int, str]
    sizes: dict[int, str]
    is_xy: bool


def chart_blocks(package: Package, path: str, place: BlockPlace, name: str) -> Iterator[Block]:
    """Yields the title of a chart, and a table of its series; `name` is that of the table."""
    place = replace(place, member=path)
    chart = package.whole(path, "chartSpace")
    is_1904 = _value(chart, "date1904") in ("1", "true")
    if chart.find(".//dateAx") is not None:
        for code in chart.iterfind(".//cat//formatCode"):
            code.text = _DATE if code.text in (None, "", "General") else code.text
    series = [_series(each, number, is_1904=is_1904) for number, each in enumerate(chart.iter("ser"), 1)]
    series += _newer_series(chart)
    counts = {
        "chart series without stored values": sum(not each.values for each in series),
        "labels of chart points": sum(each.find("tx") is not None for each in chart.iter("dLbl")),
    }
    for what, count in counts.items():
        if count:
            package.losses.count(what, path, count)
    series = [each for each in series if each.values]
    title, axes = _title(chart.find("chart")), _axis_titles(chart)
    yield MarkdownText(f"[{'; '.join(filter(None, (_kind(chart) + (f': {title}' if title else ''), *axes)))}]", place)
    yield from table(((row, place) for row in series_rows(series, axes)), name)


def series_rows(series: Sequence[ChartSeries], axes: Sequence[str]) -> Iterator[list[str]]:
    """Returns the rows of a table of series; `axes` are the titles of axes, such as "x: Year"."""
    is_wide = not any(each.is_xy for each in series) or (
        not any(each.sizes for each in series) and all(each.across == series[0].across for each in series)
    )
    return iter(()) if not series else _wide(series, axes) if is_wide else _long(series)


def _wide(series: Sequence[ChartSeries], axes: Sequence[str]) -> Iterator[list[str]]:
    """Yields a row for each category, with the value that each series has for it."""
    is_xy = series[0].is_xy
    across = "x" if is_xy else "Chart"
    yield [next((axis[3:] for axis in axes if axis.startswith("x: ")), across), *(each.name for each in series)]
    joined: dict[tuple[str, int], dict[int, str]] = {}
    for column, each in enumerate(series):
        seen: Counter[str] = Counter()
        for index in sorted(each.values.keys() | each.across.keys()):
            label = each.across.get(index, str(index + 1))
            seen[label] += 1  # a category that is there twice is two rows
            row = joined.setdefault((label, seen[label]), {})
            if index in each.values:
                row[column] = each.values[index]
    for (label, _), values in joined.items():
        if values:
            yield [label, *(values.get(column, "") for column in range(len(series)))]


def _long(series: Sequence[ChartSeries]) -> Iterator[list[str]]:
    """Yields a row for each point: series have x values of their own."""
    has_sizes = any(each.sizes for each in series)
    yield ["Series", "x", "y", *(["size"] if has_sizes else [])]
    for each in series:
        for index in sorted(each.values):
            size = [each.sizes.get(index, "")] if has_sizes else []
            yield [each.name, each.across.get(index, str(index + 1)), each.values[index], *size]


def _series(element: Element, number: int, *, is_1904: bool) -> ChartSeries:
    parts = {
        tag: _points(found, is_1904=is_1904)
        for tag in ("tx", "cat", "xVal", "val", "yVal", "bubbleSize")
        if (found := element.find(tag)) is not None
    }
    name = " ".join(parts.get("tx", {}).values()) or f"Series {number}"
    across, values = parts.get("xVal", parts.get("cat", {})), parts.get("yVal", parts.get("val", {}))
    values = {index: text for index, text in values.items() if text not in _NO_VALUE}
    return ChartSeries(name, across, values, parts.get("bubbleSize", {}), "yVal" in parts)


def _points(element: Element, *, is_1904: bool) -> dict[int, str]:
    """Returns the stored values by index; dates and numbers as their format shows them."""
    levels = list(element.iter("lvl"))
    if levels:  # categories in groups, the innermost first
        return _grouped([_level_points(each, "", is_1904=is_1904) for each in levels])
    code = next((each.text or "" for each in element.iter("formatCode")), "")
    points = _level_points(element, code, is_1904=is_1904)
    direct = element.findtext("v")
    return points or ({0: direct.strip()} if direct else {})


def _level_points(element: Element, code: str, *, is_1904: bool) -> dict[int, str]:
    points: dict[int, str] = {}
    for point in element.iter("pt"):
        index = point.get("idx", "")
        if index.isdecimal() and int(index) < _MAX_POINTS:
            text = (point.findtext("v") or point.text or "").strip()
            points[int(index)] = _shown(text, point.get("formatCode", code), is_1904=is_1904)
    return points


def _shown(text: str, code: str, *, is_1904: bool) -> str:
    if not code:
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return number_text(number, code, is_1904=is_1904, is_computed=True) if math.isfinite(number) else text


def _grouped(levels: Sequence[dict[int, str]]) -> dict[int, str]:
    """Returns names such as "2026 / Q1"; that of a group stands at its first category alone."""
    joined: dict[int, str] = {}
    groups = [""] * len(levels)
    for index in range(max((max(each, default=-1) for each in levels), default=-1) + 1):
        groups = [each.get(index, before) for each, before in zip(levels, groups, strict=True)]
        joined[index] = " / ".join(filter(None, reversed(groups)))
    return joined


def _newer_series(chart: Element) -> Iterator[ChartSeries]:
    """Yields the series of waterfall, funnel, histogram and other charts of newer programs (chartex)."""
    data = {each.get("id"): each for each in chart.iterfind("chartData/data")}
    for number, each in enumerate(chart.iter("series"), 1):
        if each.get("layoutId") == _COMPUTED:
            continue
        found = data.get(_value(each, "dataId"))
        dimensions = {part.get("type"): part for part in found} if found is not None else {}
        levels = [_level_points(level, "", is_1904=False) for level in _levels(dimensions.get("cat"))]
        values = next((dimensions[kind] for kind in ("val", "size", "y", "colorVal") if kind in dimensions), None)
        points = {
            index: text
            for level in _levels(values)
            for index, text in _level_points(level, level.get("formatCode", ""), is_1904=False).items()
        }
        names = _grouped(levels)
        for total in each.iterfind("layoutPr/subtotals/idx"):
            index = total.get("val", "")
            if index.isdecimal() and int(index[:6]) in names:
                names[int(index[:6])] += " (total)"
        name = text_inside(each.find("tx") or _NOTHING, "v") or f"Series {number}"
        yield ChartSeries(name, names, points, {}, is_xy=False)


def _levels(dimension: Element | None) -> Iterator[Element]:
    return dimension.iter("lvl") if dimension is not None else iter(())


def _value(element: Element, tag: str) -> str:
    found = next(element.iter(tag), None)
    return found.get("val", "") if found is not None else ""


def _title(element: Element | None) -> str:
    found = element.find("title") if element is not None else None
    if found is None:
        return ""
    text = text_inside(found, "t") or text_inside(found, "v")
    return " ".join(text.split())


def _axis_titles(chart: Element) -> list[str]:
    """Returns the titles of the axes; "x" is the first one, at the bottom or left of the plot."""
    axes = [each for tag in _AXES for each in chart.iter(tag)]
    titles: dict[str, None] = {}
    for axis in chart.iter("axis"):  # of chartex
        if title := _title(axis):
            titles[f"{'x' if axis.find('catScaling') is not None else 'y'}: {title}"] = None
    for number, axis in enumerate(axes):
        if title := _title(axis):
            position = _value(axis, "axPos")
            is_across = axis.tag in ("catAx", "dateAx") or (number == 0 and position in ("b", "t"))
            titles[f"{'x' if is_across else 'y'}: {title}"] = None
    return list(titles)


def _kind(chart: Element) -> str:
    kinds: dict[str, None] = {}
    for each in chart.iter():
        if each.tag.endswith("Chart") and each.find("ser") is not None:
            kinds[each.tag.removesuffix("Chart").removesuffix("3D")] = None
        elif each.tag == "series" and each.get("layoutId"):
            layout = each.get("layoutId", "")
            kinds["histogram" if each.find("layoutPr/binning") is not None else _LAYOUTS.get(layout, layout)] = None
    return f"{' and '.join(kinds)} chart" if kinds else "chart"
