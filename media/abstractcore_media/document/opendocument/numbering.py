"""The numbers of the headings and list items of OpenDocument files, as their programs count them (part 3, 19.880)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ..counting import numbered

BULLET = "-"
_OUTLINE = " outline"
"""The key of the headings among the lists; no list has such a name."""
_PLACEHOLDER = re.compile(r"%(\d{1,2})%")
_FORMATS = {
    "1": "decimal", "I": "upperRoman", "i": "lowerRoman", "①, ②, ③, ...": "decimalEnclosedCircle",
    "一, 二, 三, ...": "chineseCounting", "甲, 乙, 丙, ...": "ideographTraditional",
    "ア, イ, ウ, ...": "aiueoFullWidth", "가, 나, 다, ...": "ganada", "1st": "ordinal", "One": "cardinalText",
    "First": "ordinalText",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ListLevel:
    """`format` is None for a bullet, "" for no number; `pattern` has all of the text, "%1%.%2%)", or is ""."""

    format: str | None
    before: str
    after: str
    shown_levels: int
    start: int
    is_doubled: bool
    pattern: str


class ListNumbers:
    """The list styles of one file, and how far each list of it has counted."""

    def __init__(self) -> None:
        self._styles: dict[str, dict[int, _ListLevel]] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._last: dict[str, str] = {}
        """The last list of each style."""
        self._lists = 0

    def add(self, style: Element) -> None:
        """Adds a list style, or the style of the outline."""
        name = _OUTLINE if style.tag == "outline-style" else style.get("name", "")
        levels = self._styles.setdefault(name, {})
        for each in style:
            levels[_number(each, "level", 1) - 1] = _level(each)

    def begin(self, element: Element, style: str) -> str:
        """Returns the key of a list that begins and is in no other one."""
        self._lists += 1
        key = element.get("id") or f" {self._lists}"
        before = element.get("continue-list", "")
        if element.get("continue-numbering") == "true":
            before = before or self._last.get(style, "")
        self._counters[key] = self._counters.get(before, {})
        self._last[style] = key
        return key

    def item(self, key: str, style: str, level: int, item: Element) -> str:
        """Returns the marker of the next item of a list, "-" or "2.1."; "" if it has none."""
        return self._next(key, self._styles.get(style, {}), level, _number(item, "start-value", -1))

    def heading(self, element: Element, level: int) -> str:
        """Returns the number of a heading, "" if it has none."""
        levels = self._styles.get(_OUTLINE, {})
        if level not in levels or element.get("is-list-header") == "true":
            return ""
        start = _number(element, "start-value", levels[level].start) if element.get("restart-numbering") else -1
        marker = self._next(_OUTLINE, levels, level, start)
        return "" if marker == BULLET else marker

    def _next(self, key: str, levels: dict[int, _ListLevel], level: int, start: int) -> str:
        own = levels.get(level)
        if own is None:
            return BULLET
        counters = self._counters.setdefault(key, {})
        counters[level] = start if start >= 0 else counters.get(level, own.start - 1) + 1
        for higher in range(level):
            counters.setdefault(higher, levels[higher].start if higher in levels else 1)
        for deeper in [each for each in counters if each > level]:
            del counters[deeper]
        if own.format is None:
            return BULLET

        def shown(index: int) -> str:
            there = levels.get(index, own)
            return _shown(counters[index], there) if there.format and index in counters else ""

        if own.pattern:
            return " ".join(_PLACEHOLDER.sub(lambda found: shown(int(found[1]) - 1), own.pattern).split())
        if not own.format:
            return " ".join(f"{own.before}{own.after}".split())
        numbers = filter(None, map(shown, range(max(0, level + 1 - own.shown_levels), level + 1)))
        return " ".join(f"{own.before}{'.'.join(numbers)}{own.after}".split())


def _level(element: Element) -> _ListLevel:
    is_number = element.tag in ("list-level-style-number", "outline-level-style")
    return _ListLevel(
        element.get("num-format", "") if is_number else None,
        element.get("num-prefix", ""),
        element.get("num-suffix", ""),
        _number(element, "display-levels", 1),
        _number(element, "start-value", 1),
        element.get("num-letter-sync") == "true",
        element.get("num-list-format", ""),
    )


def _shown(number: int, level: _ListLevel) -> str:
    format = level.format or ""
    if format in ("a", "A"):
        text = numbered(number, "lowerLetter") if level.is_doubled else _letters(number)
        return text.upper() if format == "A" else text
    return numbered(number, _FORMATS.get(format, "decimal"))


def _letters(number: int) -> str:
    """Returns the letters of a number; aa and ab follow z."""
    letters = ""
    while number > 0:
        number, index = divmod(number - 1, 26)
        letters = chr(ord("a") + index) + letters
    return letters


def _number(element: Element, name: str, default: int) -> int:
    value = element.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 7 else default
