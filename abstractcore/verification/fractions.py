"""Fractions in running text: "3/4", "¾", "1 1/2". Each is a number with its form: 3/4 of a test is not 6/8."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

VULGAR: Final = "\u00bc-\u00be\u2150-\u215e\u2189"
_FRACTION: Final = re.compile(
    rf"(?:(?P<whole>\d{{1,9}})(?P<gap>[ \u00a0\u202f\u2009-]?))?(?P<character>[{VULGAR}])"
    r"|(?:(?P<before>\d{1,3})[ \u00a0\u202f\u2009-])?(?P<upper>\d{1,9})[/\u2044](?P<lower>\d{1,9})(?!\d)"
)
_MARK: Final = re.compile(rf"[/\u2044{VULGAR}]")
_WIDEST: Final = 20
_USUAL: Final = frozenset((2, 3, 4, 5, 6, 8, 16))
"""What "5 3/4" is divided by, if it is one number and not two."""
_CONTINUES: Final = re.compile(r"[/\u2044:_]|[.,]\d|[\u00b2\u00b3\u00b9\u2070-\u2079]")


class WrittenFraction(NamedTuple):
    """A fraction at `start` to `end`: 1\u00bd is 1.5, with the form "1/2" and the digits "1 1/2"."""

    start: int
    end: int
    digits: str
    form: str
    value: Decimal


def fractions_in(text: str) -> Iterator[WrittenFraction]:
    """Yields the fractions of a text; parts of codes, dates and paths are none, nor is anything divided by 0."""
    for found in _candidates(text):
        start, whole = found.start(), found["whole"] or found["before"]
        if found["character"] is not None:
            upper, lower = unicodedata.normalize("NFKC", found["character"]).split("\u2044")
        else:
            upper, lower = found["upper"], found["lower"]
            if whole is not None and not (int(upper) < int(lower) and int(lower) in _USUAL):
                start, whole = found.start("upper"), None
        if int(lower) == 0 or _is_part(text, start, found.end()):
            continue
        form = f"{int(upper)}/{int(lower)}"
        value = Decimal(int(upper)) / Decimal(int(lower)) + int(whole or 0)
        yield WrittenFraction(start, found.end(), form if whole is None else f"{int(whole)} {form}", form, value)


def _candidates(text: str) -> Iterator[re.Match[str]]:
    end = 0
    for mark in _MARK.finditer(text):
        found = _FRACTION.search(text, max(mark.start() - _WIDEST, end), mark.end() + _WIDEST)
        if found is not None and found.start() <= mark.start() < found.end():
            end = found.end()
            yield found


def _is_part(text: str, start: int, end: int) -> bool:
    before, second = text[max(start - 1, 0) : start], text[max(start - 2, 0) : max(start - 1, 0)]
    if before.isalnum() or (before and before in "/\u2044:_@\\#&="):
        return True
    if before in (".", ",") and not second.isspace():
        return True
    return (before in ("-", "\u2212", "\u2013") and second.isalpha()) or _CONTINUES.match(text, end) is not None
