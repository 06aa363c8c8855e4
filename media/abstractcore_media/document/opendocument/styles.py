"""The styles of OpenDocument files that mark words: raised, lowered, struck through and hidden ones."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from ..marks import NO_PROPERTIES, RunProperties

_MAX_PARENTS = 20
"""Styles may be based on each other in a circle."""
_RISE = re.compile(r"\s*(?:(super|sub)|(-?)([0-9.]{1,10})%)")
_FAMILIES = {"span": "text", "p": "paragraph", "h": "paragraph"}


class TextStyles:
    """The marks that the styles of a file give to spans and paragraphs."""

    def __init__(self) -> None:
        self._own: dict[tuple[str, str], RunProperties] = {}
        self._parents: dict[tuple[str, str], str] = {}

    def add(self, style: Element) -> None:
        """Adds a style; those of other families say nothing of words."""
        key = style.get("family", ""), style.get("name", "")
        self._parents[key] = style.get("parent-style-name", "")
        for each in style.iterfind("text-properties"):
            properties = _properties(each)
            if properties != NO_PROPERTIES:
                self._own[key] = properties

    @property
    def has_marks(self) -> bool:
        """Whether any style marks words."""
        return bool(self._own)

    def of(self, element: Element) -> RunProperties:
        """Returns what the style of a span or paragraph says of its words."""
        family = _FAMILIES.get(element.tag)
        name = element.get("style-name", "") if family else ""
        found = NO_PROPERTIES
        for _ in range(_MAX_PARENTS):
            if not family or not name:
                break
            found = found.over(self._own.get((family, name), NO_PROPERTIES))
            name = self._parents.get((family, name), "")
        return found


def _properties(element: Element) -> RunProperties:
    position = element.get("text-position")
    line = element.get("text-line-through-style") or element.get("text-line-through-type")
    display = element.get("display")
    return RunProperties(
        None if position is None else _rise(position),
        None if line is None else line != "none",
        None if display is None else display == "none",
    )


def _rise(position: str) -> str:
    found = _RISE.match(position)
    if found is None or (found[3] and not found[3].strip("0.")):
        return ""
    return "sub" if found[1] == "sub" or found[2] else "sup"
