"""The numbers and bullets of the headings and list items of a DOCX, as Word counts them (ECMA-376, part 1, 17.9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..counting import ListCounters, ListLevel
from .docx_styles import child_value, is_on, number_of
from .package import Package


class Numbering:
    """The lists of a document. Those of one abstract numbering count on, unless one starts at a number of its own."""

    def __init__(self, package: Package, path: str, numbered_styles: Mapping[str, str]) -> None:
        self._definitions: dict[str, dict[int, ListLevel]] = {}
        self._lists: dict[str, tuple[str, dict[int, ListLevel]]] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counters = ListCounters()
        links: dict[str, str] = {}
        overrides: dict[str, dict[int, ListLevel]] = {}
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
        starts = self._starts.pop(number, {}) if level in levels else {}  # they count for the first item of the list
        return self._counters.marker(key, levels, level, starts)

    def _add_list(self, element: Element, overrides: dict[str, dict[int, ListLevel]]) -> None:
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


def _level(element: Element) -> ListLevel:
    restart = child_value(element, "lvlRestart")
    found = element.find("numFmt")
    if found is None:
        found = element.find("AlternateContent/Choice/numFmt")
    style = found.get("val", "decimal") if found is not None else "decimal"
    if style == "custom" and found is not None:
        style = found.get("format", "").partition(",")[0]
    return ListLevel(
        number_of(child_value(element, "start"), 0 if element.find("start") is None else 1),
        style,
        child_value(element, "lvlText") or "",
        is_on(element.find("isLgl")),
        None if restart is None else number_of(restart),
        child_value(element, "pStyle") or "",
    )
