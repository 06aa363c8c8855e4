"""Parts of HTML with a state of their own: tables, lists, lists of choices and formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element, TreeBuilder

from ..blocks import Block

_MAX_SPAN, _MAX_COLUMNS, _MAX_COVERED = 100, 1_000, 10_000
_HIDDEN = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*0(?:\.0)?(?:px|pt|em|%)?\s*(?:;|$))",
    re.IGNORECASE,
)
_PHRASES = frozenset(("a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup"))
_TO_THE_END = 1 << 16
_MAX_DEPTH, _MAX_NODES = 100, 20_000
_LIST_STYLES = ("a", "A", "i", "I")
_MAX_ROMAN = 3_999
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


class HtmlTable:
    """The cells of a table that is being read. A cell over several rows or columns stands in the first of them."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.caption = ""
        self.inside: list[Block] = []
        """What cannot stand in a cell, such as pictures."""
        self._at = -1
        self._covered_until: dict[int, int] = {}
        """The last row that a cell above covers, by column."""
        self._covered = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begins a row, a cell, or a part of the table."""
        if tag in ("thead", "tbody", "tfoot"):
            self._covered_until.clear()
        elif tag == "tr":
            self._begin_row()
        else:
            if not self.rows:
                self._begin_row()
            self._begin_cell(number(attributes, "colspan", 1), number(attributes, "rowspan", 1))

    def add(self, text: str) -> None:
        """Adds a text to the cell, or to the caption."""
        if self._at < 0:
            self.caption = f"{self.caption} {text}".strip()
            return
        cell = self.rows[-1][self._at]
        self.rows[-1][self._at] = f"{cell}\n{text}" if cell else text

    def _begin_row(self) -> None:
        self.rows.append([])
        self._at = -1

    def _begin_cell(self, width: int, height: int) -> None:
        row = self.rows[-1]
        at = len(self.rows) - 1
        while self._covered_until.get(len(row), -1) >= at and self._may_cover():
            row.append("")
        self._at = len(row)
        row.append("")
        for _ in range(min(max(width, 1), _MAX_SPAN) - 1):
            if self._may_cover():
                row.append("")
        last = at + (height or _TO_THE_END) - 1
        if last > at:
            for column in range(self._at, min(len(row), _MAX_COLUMNS)):
                self._covered_until[column] = last

    def _may_cover(self) -> bool:
        """Counts a place that is covered by a cell: hostile tables have many of them."""
        self._covered += 1
        return self._covered <= _MAX_COVERED


class HtmlList:
    """The count of the items of a list that is being read."""

    def __init__(self, tag: str, attributes: Mapping[str, str]) -> None:
        # The number of the first item of a reversed list is that of its items, which are still to come.
        self._is_numbered = tag == "ol" and ("reversed" not in attributes or "start" in attributes)
        self._style = attributes.get("type", "1")
        self._step = -1 if "reversed" in attributes else 1
        self._next = _whole(attributes.get("start", ""), 1)

    def marker(self, attributes: Mapping[str, str]) -> str:
        """Returns what an item begins with: "-", "3.", "c." or "iii."."""
        if not self._is_numbered:
            return "-"
        count = _whole(attributes.get("value", ""), self._next)
        self._next = count + self._step
        style = self._style
        text = (
            (_letters(count) if style in "aA" else _roman(count)) if style in _LIST_STYLES and count > 0 else f"{count}"
        )
        return f"{text.upper() if style in 'AI' else text}."


def _letters(count: int) -> str:
    letters = ""
    while count:
        count, letter = divmod(count - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters


def _roman(count: int) -> str:
    if count > _MAX_ROMAN:
        return f"{count}"
    text = ""
    for value, letters in _ROMAN:
        text += letters * (count // value)
        count %= value
    return text


class HtmlSelect:
    """The options of a list of choices that is being read."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._is_list = "multiple" in attributes or number(attributes, "size", 1) > 1
        self._options: list[tuple[list[str], bool]] = []

    def start_option(self, attributes: Mapping[str, str]) -> None:
        """Begins an option; the `label` is shown in place of its text."""
        label = attributes.get("label", "")
        self._options.append(([label] if label else [], "selected" in attributes))

    def add(self, text: str) -> None:
        """Adds a text to the option."""
        if self._options:
            self._options[-1][0].append(text)

    def chosen(self) -> str:
        """Returns the options that are chosen, the first one if none is and only one is shown."""
        options = [(" ".join("".join(texts).split()), is_chosen) for texts, is_chosen in self._options]
        found = [text for text, is_chosen in options if is_chosen]
        return ", ".join(found or ([] if self._is_list else [text for text, _ in options[:1]]))


class HtmlFormula:
    """Builds a `math` element; one that is too deep or too large has nothing in it, and so no formula."""

    def __init__(self) -> None:
        self.text = ""
        """The text of one that is too large."""
        self._builder = TreeBuilder()
        self._pieces: list[str] = []
        self._depth = self._nodes = 0
        self._is_too_large = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begins an element."""
        self._depth += 1
        self._nodes += 1
        self._is_too_large |= self._depth > _MAX_DEPTH or self._nodes > _MAX_NODES
        if not self._is_too_large:
            self._builder.start(tag, dict(attributes))

    def data(self, text: str) -> None:
        """Adds a text."""
        self._pieces.append(text)
        if not self._is_too_large:
            self._builder.data(text)

    def end(self, tag: str) -> Element | None:
        """Ends an element; returns the whole one if that was it."""
        self._depth -= 1
        if not self._is_too_large:
            self._builder.end(tag)
        if self._depth:
            return None
        if self._is_too_large:
            self.text = " ".join("".join(self._pieces).split())
            return Element("math")
        return self._builder.close()


def _whole(text: str, default: int) -> int:
    """Returns a number that may be negative, as those of lists."""
    text = text.strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) < 9 else default


def number(attributes: Mapping[str, str], name: str, default: int) -> int:
    """Returns an attribute that is a natural number."""
    text = attributes.get(name, "").strip()
    return int(text) if text.isdecimal() and len(text) < 9 else default


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Returns whether a program shows or reads out nothing of an element; style sheets are not read.

    Words that are not read out are ornaments, or repeat others, such as a formula; larger parts are those behind a box.
    """
    if tag in ("html", "body"):
        return False
    style = attributes.get("style")
    return (
        "hidden" in attributes
        or (style is not None and _HIDDEN.search(style) is not None)
        or (tag == "dialog" and "open" not in attributes)
        or (tag in _PHRASES and attributes.get("aria-hidden") == "true")
    )
