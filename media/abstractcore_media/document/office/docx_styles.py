"""Heading levels and list markers of a DOCX, from its styles and numbering."""

from __future__ import annotations

import re
from typing import TypeVar
from xml.etree.ElementTree import Element

from .package import Package

_T = TypeVar("_T")
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)


def child_value(element: Element | None, path: str) -> str | None:
    """Returns the attribute `val` of the element at `path`; None if there is none."""
    found = element.find(path) if element is not None else None
    return found.get("val") if found is not None else None


class Styles:
    """Paragraph styles: which are headings, and which belong to lists."""

    def __init__(self, package: Package, path: str) -> None:
        self._levels: dict[str, int] = {}
        self._lists: dict[str, tuple[str, int]] = {}
        self._parents: dict[str, str] = {}
        for style in package.elements(path, "style"):
            key = style.get("styleId", "")
            name = child_value(style, "name") or key
            outline = child_value(style, "pPr/outlineLvl")
            if found := _HEADING.fullmatch(name):
                self._levels[key] = int(found[1])
            elif name.lower() == "title":
                self._levels[key] = 1
            elif outline is not None and outline.isdecimal() and int(outline) < 9:
                self._levels[key] = int(outline) + 1
            number = child_value(style, "pPr/numPr/numId")
            if number is not None:
                self._lists[key] = number, _count(child_value(style, "pPr/numPr/ilvl"))
            self._parents[key] = child_value(style, "basedOn") or ""

    def heading_level(self, paragraph: Element) -> int | None:
        """Returns 1 to 9 for a heading."""
        outline = child_value(paragraph, "pPr/outlineLvl")
        if outline is not None and outline.isdecimal() and int(outline) < 9:
            return int(outline) + 1
        return self._inherited(self._levels, child_value(paragraph, "pPr/pStyle") or "")

    def list_of(self, paragraph: Element) -> tuple[str, int] | None:
        """Returns the id of the numbering of an item of a list, and its level from 0."""
        number = child_value(paragraph, "pPr/numPr/numId")
        if number is not None:
            return (number, _count(child_value(paragraph, "pPr/numPr/ilvl"))) if number != "0" else None
        return self._inherited(self._lists, child_value(paragraph, "pPr/pStyle") or "")

    def _inherited(self, values: dict[str, _T], key: str) -> _T | None:
        for _ in range(20):  # styles may be based on each other in a circle
            if key in values:
                return values[key]
            key = self._parents.get(key, "")
        return None


class Numbering:
    """The markers of list items, counted in the order of the document."""

    def __init__(self, package: Package, path: str) -> None:
        abstract: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._counters: dict[str, dict[int, int]] = {}
        for each in package.elements(path, "abstractNum", "num"):
            if each.tag == "abstractNum":
                abstract[each.get("abstractNumId", "")] = {
                    _count(level.get("ilvl")): (
                        child_value(level, "numFmt") or "bullet",
                        child_value(level, "lvlText") or "",
                        _count(child_value(level, "start"), 1),
                    )
                    for level in each.iter("lvl")
                }
            else:
                self._levels[each.get("numId", "")] = abstract.get(child_value(each, "abstractNumId") or "", {})

    def marker(self, number: str, level: int) -> str:
        """Returns the marker of the next item, "-" or "2.1."."""
        levels = self._levels.get(number, {})
        style, template, start = levels.get(level, ("bullet", "", 1))
        counters = self._counters.setdefault(number, {})
        counters[level] = counters.get(level, start - 1) + 1
        for deeper in [each for each in counters if each > level]:
            del counters[deeper]
        if style in ("bullet", "none"):
            return "-"

        def counted(found: re.Match[str]) -> str:
            index = int(found[1]) - 1
            return _formatted(counters.get(index, levels.get(index, ("", "", 1))[2]), levels.get(index, (style,))[0])

        return re.sub(r"%([1-9])", counted, template).strip() or f"{counters[level]}."


def _formatted(number: int, style: str) -> str:
    if style in ("lowerLetter", "upperLetter") and 1 <= number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter if style == "lowerLetter" else letter.upper()
    if style in ("lowerRoman", "upperRoman") and 1 <= number < 4000:
        roman = _roman(number)
        return roman.lower() if style == "lowerRoman" else roman
    return str(number)


def _roman(number: int) -> str:
    digits = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
              (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
    text = ""
    for value, digit in digits:
        text += digit * (number // value)
        number %= value
    return text


def _count(value: str | None, default: int = 0) -> int:
    return int(value) if value is not None and value.isdecimal() and len(value) < 9 else default
