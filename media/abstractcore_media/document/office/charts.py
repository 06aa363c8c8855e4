"""The values of a chart, as its file keeps them: a table of its categories and series (DrawingML charts)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import BlockPlace
from .package import Package

_MAX_POINTS = 10_000


def chart_rows(package: Package, path: str, place: BlockPlace) -> Iterator[tuple[list[str], BlockPlace]]:
    """Yields the rows of the table, the names of the series first; nothing for a chart without values."""
    place = replace(place, member=path)
    series = [
        (_points(each.find("tx")), _points(_first(each, "cat", "xVal")), _points(_first(each, "val", "yVal")))
        for each in package.elements(path, "ser")
    ]
    if not series:
        return
    names = [name.get(0, f"Series {number}") for number, (name, _, _) in enumerate(series, 1)]
    yield ["Chart", *names], place
    indexes = sorted({index for _, _, values in series for index in values})
    for index in indexes:
        category = next((categories[index] for _, categories, _ in series if index in categories), str(index + 1))
        yield [category, *(values.get(index, "") for _, _, values in series)], place


def _first(element: Element, *tags: str) -> Element | None:
    return next((found for tag in tags if (found := element.find(tag)) is not None), None)


def _points(element: Element | None) -> dict[int, str]:
    """Returns the cached values by index."""
    if element is None:
        return {}
    points = {
        int(index): (point.findtext("v") or "").strip()
        for point in element.iter("pt")
        if (index := point.get("idx", "")).isdecimal() and int(index) < _MAX_POINTS
    }
    direct = element.findtext("v")
    return points or ({0: direct.strip()} if direct else {})
