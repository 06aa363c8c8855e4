"""The styles of words and paragraphs of OpenDocument files: marks, lists, titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..marks import NO_PROPERTIES, RunProperties

_MAX_PARENTS = 20
"""Styles may be based on each other in a circle."""
_RISE = re.compile(r"\s*(?:(super|sub)|(-?)([0-9.]{1,10})%)")
_FAMILIES = {"span": "text", "p": "paragraph", "h": "paragraph"}


class TextStyles:
    """The styles of a file, which are all added before one is looked up."""

    def __init__(self) -> None:
        self._own: dict[tuple[str, str], RunProperties] = {}
        self._parents: dict[tuple[str, str], str] = {}
        self._lists: dict[str, str] = {}
        self._inherited: dict[tuple[str, str], RunProperties] = {}

    def add(self, style: Element) -> None:
        """Adds a style of words or paragraphs; those of other families have no marks."""
        key = style.get("family", ""), style.get("name", "")
        self._parents[key] = style.get("parent-style-name", "")
        if (name := style.get("list-style-name")) is not None:
            self._lists[key[1]] = name
        for each in style.iterfind("text-properties"):
            properties = _properties(each)
            if properties != NO_PROPERTIES:
                self._own[key] = properties

    @property
    def has_marks(self) -> bool:
        """Whether any style marks words."""
        return any(each.rise or each.is_struck or each.is_hidden for each in self._own.values())

    def of(self, element: Element) -> RunProperties:
        """Returns the marks of the words in a span or paragraph by its style, `NO_PROPERTIES` itself for none."""
        key = element.tag, element.get("style-name", "")
        found = self._inherited.get(key)
        if found is None:
            found = NO_PROPERTIES
            for each in self._line(element):
                if each in self._own:
                    found = found.over(self._own[each])
            self._inherited[key] = found
        return found

    def list_of(self, paragraph: Element) -> str | None:
        """Returns the list style of a paragraph by its style: "" for no list, None where the style leaves it open."""
        return next((self._lists[name] for _, name in self._line(paragraph) if name in self._lists), None)

    def is_title(self, paragraph: Element) -> bool:
        """Returns whether a paragraph is the title of the document."""
        return any(name == "Title" for _, name in self._line(paragraph))

    def _line(self, element: Element) -> Iterator[tuple[str, str]]:
        """Yields the style of a span or paragraph, and those that it is based on."""
        family, name = _FAMILIES.get(element.tag, ""), element.get("style-name", "")
        for _ in range(_MAX_PARENTS):
            if not family or not name:
                return
            yield family, name
            name = self._parents.get((family, name), "")


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
