"""Dates as people write them: which days a text may mean, in the common formats of numbers and of seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

_MONTHS = (
    ("jan", "gen", "ene"),
    ("feb", "f\u00e9v", "fev"),
    ("mar", "m\u00e4r", "maa", "mrz", "mrt"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mag", "mei"),
    ("jun", "juin", "giu"),
    ("jul", "juil", "lug"),
    ("aug", "ao\u00fb", "aou", "ago"),
    ("sep", "set"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "dez", "d\u00e9c", "dic"),
)
"""The beginnings of the months in English, German, French, Spanish, Italian, Portuguese and Dutch."""
_NUMBERS = re.compile(r"(?<!\d)(\d{1,4})\s?[-./\u2010-\u2013]\s?(\d{1,2})\s?[-./\u2010-\u2013]\s?(\d{1,4})(?!\d)")
_CJK = re.compile(r"(\d{4})\s?\u5e74\s?(\d{1,2})\s?\u6708\s?(\d{1,2})\s?\u65e5")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|\u00ba)?[\s,-]+(?:de\s+|of\s+)?([^\W\d_]{3,12})\.?", re.I
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,12})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?(?!\d)", re.I)
_YEAR = re.compile(r"[\s,.'\u2019-]*(?:de\s+|del\s+)?(\d{4}|\d{2})(?!\d)", re.I)


def dates_in(text: str) -> set[date]:
    """Returns every day that a date in `text` may mean: "03/04/2026" is in March or in April."""
    return set(_numeric(text)) | {day for day in _named(text) if isinstance(day, date)}


def dates_without_year(text: str) -> set[tuple[int, int]]:
    """Returns the month and the day of every date with the name of a month, and without a year."""
    return {day for day in _named(text) if not isinstance(day, date)}


def _numeric(text: str) -> Iterator[date]:
    for first, second, third in (*_NUMBERS.findall(text), *_CJK.findall(text)):
        orders = [(first, second, third)] if len(first) == 4 else [(third, second, first), (third, first, second)]
        for year, month, day in orders:
            yield from _days(year, int(month), day)


def _named(text: str) -> Iterator[date | tuple[int, int]]:
    """Yields the days that are written with the name of a month; month and day of one without a year."""
    places = [(found[1], found[2], found.end()) for found in _DAY_FIRST.finditer(text)]
    places += [(found[2], found[1], found.end()) for found in _MONTH_FIRST.finditer(text)]
    for day, name, end in places:
        month = _month(name)
        if month is None:
            continue
        year = _YEAR.match(text, end)
        if year is None:
            yield month, int(day)
        else:
            yield from _days(year[1], month, day)


def _month(name: str) -> int | None:
    lower = name.lower()
    return next((number for number, names in enumerate(_MONTHS, 1) if lower.startswith(names)), None)


def _days(year: str, month: int, day: str) -> Iterator[date]:
    for full in (int(year),) if len(year) == 4 else (2000 + int(year), 1900 + int(year)):
        try:
            yield date(full, month, int(day))
        except ValueError:
            continue
