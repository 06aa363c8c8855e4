"""Dates as people write them: which days a text may mean, in the common formats of numbers and of seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

_MONTHS = (
    "january januar j\u00e4nner janvier enero gennaio janeiro januari jan gen ene janv j\u00e4n",
    "february februar f\u00e9vrier fevrier febrero febbraio fevereiro februari feb f\u00e9v fev f\u00e9vr",
    "march m\u00e4rz mars marzo mar\u00e7o maart mar m\u00e4r mrz mrt maa",
    "april avril abril aprile apr avr abr",
    "may mai mayo maggio maio mei mag",
    "june juni juin junio giugno junho jun giu",
    "july juli juillet julio luglio julho jul juil lug",
    "august ao\u00fbt aout agosto augustus aug ao\u00fb ago",
    "september septembre septiembre settembre setembro sep sept set",
    "october oktober octobre octubre ottobre outubro oct okt ott out",
    "november novembre noviembre novembro nov",
    "december dezember d\u00e9cembre decembre diciembre dicembre dezembro dec dez d\u00e9c dic",
)
_NUMBER_OF_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
"""The months and their abbreviations in English, German, French, Spanish, Italian, Portuguese and Dutch."""
_OTHER_WORDS = frozenset(("ago", "dic", "gen", "mag", "mar", "march", "may", "out", "set"))
"""Months that are also other words, in lower case: only a year beside one makes it a month."""
_NUMBERS = re.compile(r"(?<!\d)(\d{1,4})\s?[-./\u2010-\u2013]\s?(\d{1,2})\s?[-./\u2010-\u2013]\s?(\d{1,4})(?!\d)")
_CJK = re.compile(r"(\d{4})\s?\u5e74\s?(\d{1,2})\s?\u6708\s?(\d{1,2})\s?\u65e5")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|\u00ba)?[\s,-]+(?:de\s+|of\s+)?([^\W\d_]{3,12})\.?", re.I
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,12})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?(?!\d)", re.I)
_YEAR = re.compile(
    r"(?:[\s,.'\u2019-]*(?:de\s+|del\s+)?(?P<full>\d{4})|[ ,.'\u2019-]{1,2}(?P<short>\d{2}))(?!\d)", re.I
)


class WrittenDate(NamedTuple):
    """A date at `start` to `end`: the days that it may mean; without a year, the month and the day."""

    start: int
    end: int
    days: frozenset[date]
    month_and_day: tuple[int, int] | None = None


def dates_in(text: str) -> set[date]:
    """Returns every day that a date in `text` may mean: "03/04/2026" is in March or in April."""
    return {day for written in written_dates(text) for day in written.days}


def dates_without_year(text: str) -> set[tuple[int, int]]:
    """Returns the month and the day of every date with the name of a month, and without a year."""
    return {written.month_and_day for written in written_dates(text) if written.month_and_day is not None}


def written_dates(text: str) -> Iterator[WrittenDate]:
    """Yields the dates in a text: those in numbers, then those with the name of a month."""
    yield from _numeric(text)
    yield from _named(text)


def _numeric(text: str) -> Iterator[WrittenDate]:
    for found in (*_NUMBERS.finditer(text), *_CJK.finditer(text)):
        first, second, third = found.groups()
        orders = [(first, second, third)] if len(first) == 4 else [(third, second, first), (third, first, second)]
        days = frozenset(each for year, month, day in orders for each in _days(year, int(month), day))
        if days:
            yield WrittenDate(*found.span(), days)


def _named(text: str) -> Iterator[WrittenDate]:
    """Yields the days that are written with the name of a month; month and day of one without a year."""
    places = [(found[1], found[2], found.span()) for found in _DAY_FIRST.finditer(text)]
    places += [(found[2], found[1], found.span()) for found in _MONTH_FIRST.finditer(text)]
    for day, name, (start, end) in places:
        month = month_of(name)
        if month is None:
            continue
        year = _YEAR.match(text, end)
        if year is None:
            if name not in _OTHER_WORDS and 1 <= int(day) <= 31:
                yield WrittenDate(start, end, frozenset(), (month, int(day)))
        elif days := frozenset(_days(year["full"] or year["short"], month, day)):
            yield WrittenDate(start, year.end(), days)


def month_of(name: str) -> int | None:
    """Returns the number of a month by its name; None for any other word."""
    return _NUMBER_OF_MONTH.get(name.lower())


def _days(year: str, month: int, day: str) -> Iterator[date]:
    for full in (int(year),) if len(year) == 4 else (2000 + int(year), 1900 + int(year)):
        try:
            yield date(full, month, int(day))
        except ValueError:
            continue
