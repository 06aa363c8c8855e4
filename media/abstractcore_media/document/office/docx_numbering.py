"""The numbers and bullets of the headings and list items of a DOCX, as Word counts them (ECMA-376, part 1, 17.9)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from ..counting import numbered
from .docx_styles import child_value, is_on, number_of
from .package import Package

BULLET = "-"


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    style: str
    text: str
    is_decimal: bool = False
    """Whether the numbers of all levels in its text are decimal ("isLgl"), with or without leading zeros."""
    restart: int | None = None
    paragraph_style: str = ""


class Numbering:
    """The lists of a document. Those of one abstract numbering count on, unless one starts at a number of its own."""

    def __init__(self, package: Package, path: str, numbered_styles: Mapping[str, str]) -> None:
        self._definitions: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, tuple[str, dict[int, _Level]]] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counters: dict[str, dict[int, int]] = {}
        links: dict[str, str] = {}
        overrides: dict[str, dict[int, _Level]] = {}
        for each in package.elements(path, "abstractNum", "num"):
            if each.tag == "abstractNum":
                key = each.get("abstractNumId", "")
                self._definitions[key] = {number_of(level.get("ilvl")): _level(level) for level in each.iter("lvl")}
                links[key] = child_value(each, "numStyleLink") or ""
            else:
                self._add_list(each, overrides)
        for number, (key, _) in self._lists.items():
            linked = self._lists.get(numbered_styles.get(links.get(key, ""), ""))
            key = linked[0] if linked else key
            self._lists[number] = key, self._definitions.get(key, {}) | overrides[number]

    def level_of_style(self, number: str, style: str) -> int | None:
        """Returns the level of a list that a paragraph style stands for."""
        levels = self._lists.get(number, ("", {}))[1]
        return next((level for level, each in levels.items() if each.paragraph_style == style), None)

    def marker(self, number: str, level: int) -> str:
        """Returns the marker of the next item, "-" or "2.1."; "" if the item has none."""
        key, levels = self._lists.get(number, ("", {}))
        own = levels.get(level)
        if own is None:
            return BULLET
        counters = self._counters.setdefault(key, {})
        starts = self._starts.pop(number, {})  # they count for the first item of the list alone
        for each, start in starts.items():
            counters[each] = start - 1
        counters[level] = counters.get(level, own.start - 1) + 1
        for higher in range(level):
            counters.setdefault(higher, levels[higher].start if higher in levels else 1)
        for deeper in [each for each in counters if each > level]:
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or level < restart:
                del counters[deeper]
        if own.style == "bullet":
            return BULLET

        def counted(found: re.Match[str]) -> str:
            index = int(found[1]) - 1
            there = levels.get(index, own)
            style = "decimal" if own.is_decimal and there.style != "decimalZero" else there.style
            return numbered(counters.get(index, there.start), style)

        return " ".join(re.sub(r"%([1-9])", counted, own.text).split())

    def _add_list(self, element: Element, overrides: dict[str, dict[int, _Level]]) -> None:
        number, key = element.get("numId", ""), child_value(element, "abstractNumId") or ""
        self._lists[number] = key, {}
        levels = self._definitions.get(key, {})
        overrides[number] = {}
        for each in element.iterfind("lvlOverride"):
            level = number_of(each.get("ilvl"))
            own = each.find("lvl")
            if own is not None:
                overrides[number][level] = _level(own)
            start = child_value(each, "startOverride")
            if start is not None:
                self._starts.setdefault(number, {})[level] = number_of(start, 1)
                base = overrides[number].get(level) or levels.get(level)
                if base is not None:
                    overrides[number][level] = replace(base, start=number_of(start, 1))


def _level(element: Element) -> _Level:
    restart = child_value(element, "lvlRestart")
    found = element.find("numFmt")
    if found is None:
        found = element.find("AlternateContent/Choice/numFmt")
    style = found.get("val", "decimal") if found is not None else "decimal"
    if style == "custom" and found is not None:
        style = found.get("format", "").partition(",")[0]
    return _Level(
        number_of(child_value(element, "start"), 0 if element.find("start") is None else 1),
        style,
        child_value(element, "lvlText") or "",
        is_on(element.find("isLgl")),
        None if restart is None else number_of(restart),
        child_value(element, "pStyle") or "",
    )
