"""Digits that are neither number, time nor day, compared as they are written: "1,2,3", "16:9", "31/02/2026"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .dates import month_of
from .fractions import VULGAR

NOT_A_NUMBER: Final = "digits that are not one number are compared as they are written"
NOT_A_DAY: Final = "it is not a day of the calendar, and is compared as it is written"
_DIGIT: Final = rf"(?:\d+|[{VULGAR}])"
_JOINTS: Final = ".,;:/'\u2019\u2044\u00d7*^~+=\u2013\u2212-"
_RAISED: Final = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_RUN: Final = re.compile(rf"#?{_DIGIT}(?:[{_JOINTS}]{{0,2}}(?:{_DIGIT}|[{_RAISED}]))*")
_PIECE: Final = re.compile(_DIGIT)
_CONTINUES: Final = re.compile(rf"\w|[{_RAISED}]|[,;]\s?\d|[{_JOINTS}]{{1,2}}\d")
_CONTINUED: Final = re.compile(rf"(?:\w|\d[,;]\s|\d[{_JOINTS}]{{1,2}}|(?<![^\s(])[-\u2212])$")
_NUMERIC_DAY: Final = re.compile(
    r"(?<![\w./-])(?:[0-3]?\d([./-])[0-3]?\d\1\d{4}|\d{4}([./-])[01]?\d\2[0-3]?\d)(?!\w|[./-]\d)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_NAMED_DAY: Final = re.compile(
    rf"(?<!\w){_DAY}[ \u00a0](?:of |de )?([^\W\d_]{{3,12}})\.?,?(?: del?)? \d{{4}}(?!\w)"
    rf"|(?<!\w)([^\W\d_]{{3,12}})\.? {_DAY},? \d{{4}}(?!\w)",
    re.I,
)


def day_like(text: str) -> Iterator[tuple[int, int]]:
    """Yields what is written as a day with its year, also if there is no such day."""
    yield from (found.span() for found in _NUMERIC_DAY.finditer(text))
    for found in _NAMED_DAY.finditer(text):
        if month_of(found[1] or found[2]) is not None:
            yield found.span()


def digits_left(text: str, taken: bytearray) -> Iterator[tuple[int, int]]:
    """Yields every run of digits that is not in `taken`, which has a byte for each character."""
    for found in _RUN.finditer(text):
        if not any(taken[found.start() : found.end()]):
            yield found.span()
            continue
        for piece in _PIECE.finditer(text, *found.span()):
            if not any(taken[piece.start() : piece.end()]):
                yield piece.span()


def spellings(digits: str) -> tuple[str, ...]:
    """Returns the texts that are the same digits: lists have a space after each comma, or none."""
    return tuple(dict.fromkeys((digits, re.sub("([,;])", r"\1 ", digits))))


def is_whole(text: str, start: int, end: int) -> bool:
    """Returns whether digits in a text are not a part of longer ones, or of a word, and drop no minus."""
    return _CONTINUES.match(text, end) is None and _CONTINUED.search(text, max(start - 3, 0), start) is None
