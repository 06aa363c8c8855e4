"""The properties of the texts of a PPT file: their bullets, numbers, levels and raised words (MS-PPT 2.9)."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from .ppt_records import Record

TITLE, BODY, CENTER_BODY, CENTER_TITLE, HALF_BODY, QUARTER_BODY = 0, 1, 5, 6, 7, 8
"""The types of texts."""
_BODIES = (BODY, HALF_BODY, QUARTER_BODY)
_BASES = {CENTER_BODY: BODY, CENTER_TITLE: TITLE, HALF_BODY: BODY, QUARTER_BODY: BODY}
SCHEMES = (
    *("alphaLcPeriod", "alphaUcPeriod", "arabicParenR", "arabicPeriod", "romanLcParenBoth", "romanLcParenR"),
    *("romanLcPeriod", "romanUcPeriod", "alphaLcParenBoth", "alphaLcParenR", "alphaUcParenBoth", "alphaUcParenR"),
    *("arabicParenBoth", "arabicPlain", "romanUcParenBoth", "romanUcParenR"),
)
"""The names that DrawingML has for the numbers of paragraphs, by their numbers here."""
_MAX_LEVELS, _MAX_GROUPS, _MAX_RUNS = 8, 16, 100_000
_AUTOMATIC, _SCHEME = 1 << 25, 1 << 24


class TextRuns(NamedTuple):
    """The values of runs, each with the position at which it ends."""

    ends: list[int]
    values: list[tuple[int, ...]]

    def at(self, place: int) -> tuple[int, ...] | None:
        """Returns the value at a position; None after the last run."""
        index = bisect_right(self.ends, place)
        return self.values[index] if index < len(self.values) else None


class _TextProperties:
    """The fields of text properties: each is there if its bit in a mask is set."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def skip(self, mask: int, sizes: Sequence[tuple[int, int]]) -> None:
        self.at += sum(size for bit, size in sizes if mask >> bit & 1)

    def bullet(self) -> int:
        """Takes the properties of a paragraph; returns 1 for one with a bullet, 0 without, -1 if left open."""
        mask = self.take("I")
        flags = self.take("H") if mask & 0xF else 0
        self.skip(mask, [(bit, 2) for bit in (7, 4, 6)] + [(5, 4)] + [(bit, 2) for bit in (11, 12, 13, 14, 8, 10, 15)])
        if mask >> 20 & 1:
            tabs = self.take("H")
            self.at += 4 * tabs
        self.skip(mask, [(16, 2)])
        self.at += 2 if mask & 0xE0000 else 0
        self.skip(mask, [(21, 2)])
        return flags & 1 if mask & 1 else -1

    def rise_and_group(self) -> tuple[int, int]:
        """Takes the properties of characters; returns how much they are raised, and their group of numbers."""
        mask = self.take("I")
        style = self.take("H") if mask & 0xFFFF else 0
        self.skip(mask, [(bit, 2) for bit in (16, 21, 22, 23, 17)] + [(18, 4)])
        return self.take("h") if mask >> 19 & 1 else 0, style >> 10 & 0xF


def text_runs(style: Record | None, length: int) -> tuple[TextRuns, TextRuns]:
    """Returns the levels and bullets of paragraphs, and the rise and group of characters; fewer where damaged."""
    paragraphs, characters = TextRuns([], []), TextRuns([], [])
    if style is None:
        return paragraphs, characters
    fields = _TextProperties(style.content)
    try:
        for runs in (paragraphs, characters):
            end = 0
            while end <= length and len(runs.ends) < _MAX_RUNS:
                end += fields.take("I")
                value = (fields.take("H"), fields.bullet()) if runs is paragraphs else fields.rise_and_group()
                runs.ends.append(end)
                runs.values.append(value)
    except struct.error:
        return paragraphs, characters
    return paragraphs, characters


def automatic_numbers(style: Record | None) -> list[tuple[int, int] | None]:
    """Returns the number format and the first number of each group of paragraphs in a shape (StyleTextProp9Atom)."""
    found: list[tuple[int, int] | None] = []
    if style is None:
        return found
    fields = _TextProperties(style.content)
    try:
        while fields.at < len(fields.data) and len(found) < _MAX_GROUPS:
            mask = fields.take("I")
            fields.skip(mask, [(23, 2)])
            is_automatic = fields.take("H") if mask & _AUTOMATIC else 0
            number = (fields.take("H"), fields.take("H")) if mask & _SCHEME else (3, 1)
            found.append(number if is_automatic else None)
            fields.skip(fields.take("I"), [(20, 4)])
            mask = fields.take("I")
            fields.skip(mask, [(0, 2), (1, 2), (2, 2), (5, 4), (6, 2)])
            if mask >> 9 & 1:
                tags = fields.take("I")
                fields.at += 4 * tags
    except struct.error:
        return found
    return found


class MasterBullets:
    """Which paragraphs have a bullet where their own properties leave it open, by the master of the slide."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._levels: dict[int, list[int]] = {}
        for each in records:
            self._levels.setdefault(each.instance, _bullets_of_levels(each))

    def has_bullet(self, kind: int, level: int) -> bool:
        """Returns whether a paragraph of a type of text has a bullet."""
        for each in (kind, _BASES.get(kind, kind)):
            levels = self._levels.get(each, [])
            for own in reversed(levels[: level + 1]):
                if own >= 0:
                    return bool(own)
        return kind in _BODIES


def _bullets_of_levels(style: Record) -> list[int]:
    fields, found = _TextProperties(style.content), list[int]()
    try:
        for _ in range(min(fields.take("H"), _MAX_LEVELS)):
            if style.instance >= CENTER_BODY:
                fields.take("H")
            found.append(fields.bullet())
            fields.rise_and_group()
    except struct.error:
        return found
    return found
