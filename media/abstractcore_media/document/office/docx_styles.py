"""The styles of a DOCX: heading levels, lists, and the marks of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar
from xml.etree.ElementTree import Element

from ..marks import NO_PROPERTIES, RunProperties
from .package import Package

_T = TypeVar("_T")
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)


def child_value(element: Element | None, path: str) -> str | None:
    """Returns the attribute `val` of the element at `path`; None if there is none."""
    for tag in path.split("/"):
        if element is None:
            return None
        element = element.find(tag)
    return element.get("val") if element is not None else None


_RISES = {"superscript": "sup", "subscript": "sub"}


def run_properties(element: Element | None) -> RunProperties:
    """Returns the marks in the properties of a run (rPr)."""
    found = NO_PROPERTIES
    for each in element if element is not None else ():
        if each.tag == "vertAlign":
            found = replace(found, rise=_RISES.get(each.get("val", ""), ""))
        elif each.tag in ("strike", "dstrike"):
            found = replace(found, is_struck=is_on(each) or bool(found.is_struck))
        elif each.tag == "vanish":
            found = replace(found, is_hidden=is_on(each))
    return found


class Styles:
    """Styles of paragraphs and runs: which are headings, which belong to lists, and the marks of their words."""

    def __init__(self, package: Package, path: str) -> None:
        self._levels: dict[str, int] = {}
        self._parents: dict[str, str] = {}
        self._runs: dict[str, RunProperties] = {}
        self.lists: dict[str, str] = {}
        """The list of each style that belongs to one."""
        self._list_levels: dict[str, int] = {}
        for style in package.elements(path, "style"):
            self._add(style)

    def _add(self, style: Element) -> None:
        key = style.get("styleId", "")
        name = child_value(style, "name") or key
        outline = child_value(style, "pPr/outlineLvl")
        if found := _HEADING.fullmatch(name):
            self._levels[key] = int(found[1])
        elif name.lower() == "title":
            self._levels[key] = 1
        elif outline is not None and outline.isdecimal() and int(outline) < 9:
            self._levels[key] = int(outline) + 1
        number, level = child_value(style, "pPr/numPr/numId"), child_value(style, "pPr/numPr/ilvl")
        if number is not None:
            self.lists[key] = number
        if level is not None:
            self._list_levels[key] = number_of(level)
        self._parents[key] = child_value(style, "basedOn") or ""
        properties = run_properties(style.find("rPr"))
        if properties != NO_PROPERTIES:
            self._runs[key] = properties

    def run_properties(self, key: str) -> RunProperties:
        """Returns the properties that a style gives to runs."""
        found = NO_PROPERTIES
        if self._runs:
            for style in self._line(key):
                found = found.over(self._runs.get(style, NO_PROPERTIES))
        return found

    def heading_level(self, paragraph: Element) -> int | None:
        """Returns 1 to 9 for a heading."""
        outline = child_value(paragraph, "pPr/outlineLvl")
        if outline is not None and outline.isdecimal() and int(outline) < 9:
            return int(outline) + 1
        return self._inherited(self._levels, child_value(paragraph, "pPr/pStyle") or "")

    def list_of(self, paragraph: Element, level_of_style: Callable[[str, str], int | None]) -> tuple[str, int] | None:
        """Returns the id of the list of an item, and its level from 0; a style may stand for a level of its list."""
        style = child_value(paragraph, "pPr/pStyle") or ""
        level = child_value(paragraph, "pPr/numPr/ilvl")
        number = child_value(paragraph, "pPr/numPr/numId") or self._inherited(self.lists, style)
        if number is None or number == "0":
            return None
        if level is not None:
            return number, number_of(level)
        levels = (level_of_style(number, each) for each in self._line(style))
        found = next((each for each in levels if each is not None), None)
        return number, (self._inherited(self._list_levels, style) or 0) if found is None else found

    def _inherited(self, values: dict[str, _T], key: str) -> _T | None:
        return next((values[each] for each in self._line(key) if each in values), None)

    def _line(self, key: str) -> Iterator[str]:
        """Yields a style and those that it is based on."""
        for _ in range(20):  # styles may be based on each other in a circle
            if not key:
                return
            yield key
            key = self._parents.get(key, "")


def number_of(value: str | None, default: int = 0) -> int:
    """Returns a count as an attribute has it."""
    return int(value) if value is not None and value.isdecimal() and len(value) < 9 else default


def is_on(element: Element | None) -> bool:
    """Returns whether a property that is on or off is there and on."""
    return element is not None and element.get("val", "1") not in ("0", "false", "off")
