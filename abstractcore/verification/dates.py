"""Dates and times as people write them: the days that a text may mean, in formats of numbers and seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

DateOrder = Literal["day", "month"]
"""Which comes first in dates such as 03/14/2026."""
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
_NUMERIC = re.compile(r"(?<!\d)(\d{1,4})\s?[-./\u2010-\u2013]\s?(\d{1,2})\s?[-./\u2010-\u2013]\s?(\d{1,4})(?!\d)")
_CJK = re.compile(r"(\d{4})\s?\u5e74\s?(\d{1,2})\s?\u6708\s?(\d{1,2})\s?\u65e5")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|\u00ba)?[\s,-]+(?:de\s+|of\s+)?([^\W\d_]{3,12})\.?", re.I
)
_MONTH_FIRST = re.compile(r"([^\W\d_]{3,12})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?(?!\d)", re.I)
_YEAR = re.compile(
    r"(?:[\s,.'\u2019-]*(?:de\s+|del\s+)?(?P<full>\d{4})|[ ,.'\u2019-]{1,2}(?P<short>\d{2}))(?!\d)", re.I
)
_MONTH_AND_YEAR = re.compile(r"(?<![^\W_])([^\W\d_]{3,12})\.?,? (\d{4})(?!\d)")
_NUMERIC_SHAPE = re.compile(
    r"(?<![\w./-])(?:[0-3]?\d([./-])[0-3]?\d\1\d{4}|\d{4}([./-])[01]?\d\2[0-3]?\d)(?!\w|[./-]\d)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_NAMED_SHAPE = re.compile(
    rf"(?<!\w){_DAY}[ \u00a0](?:of |de )?([^\W\d_]{{3,12}})\.?,?(?: del?)? \d{{4}}(?!\w)"
    rf"|(?<!\w)([^\W\d_]{{3,12}})\.? {_DAY},? \d{{4}}(?!\w)",
    re.I,
)
_ORDERED = re.compile(r"(?<!\d)(\d{1,2})\s?[/-]\s?(\d{1,2})\s?[/-]\s?(?:\d{4}|\d{2})(?!\d)")
_CENTURY = 70
"""Years of two digits from this one on are in the 20th century, others in the 21st, if the text allows both."""
_TIME = re.compile(
    r"(?<![\d.,:/-])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:/]|[.,]\d)(?:[ \u00a0]?([ap])\.?m\b\.?)?"
    r"|(?<![\d.,:/-])(\d{1,2})(?:[.]([0-5]\d))?[ \u00a0]?([ap])\.?m\b\.?",
    re.I,
)
_DOTTED_TIME = re.compile(r"(?<![\d.,])(\d{1,2})\.([0-5]\d)(?!\d|[.,]\d|[ \u00a0]?(?:%|\u20ac|\$|EUR|USD|GBP|kg|m\b))")


class WrittenDate(NamedTuple):
    """A date at `start` to `end`: the days that it may mean; without a year, the month and the day."""

    start: int
    end: int
    days: frozenset[date]
    month_and_day: tuple[int, int] | None = None


def written_dates(text: str) -> Iterator[WrittenDate]:
    """Yields the dates in a text: those in numbers, then those with the name of a month."""
    yield from _numeric(text)
    yield from _days_with_month_names(text)


def _numeric(text: str) -> Iterator[WrittenDate]:
    for found in (*_NUMERIC.finditer(text), *_CJK.finditer(text)):
        first, second, third = found.groups()
        orders = [(first, second, third)] if len(first) == 4 else [(third, second, first), (third, first, second)]
        days = frozenset(each for year, month, day in orders for each in _days(year, int(month), day))
        if days:
            yield WrittenDate(*found.span(), days)


def _days_with_month_names(text: str) -> Iterator[WrittenDate]:
    """Yields the days that are written with the name of a month; month and day of one without a year."""
    places = [(found[1], found[2], found.span()) for found in _DAY_FIRST.finditer(text)]
    places += [(found[2], found[1], found.span()) for found in _MONTH_FIRST.finditer(text)]
    for day, name, (start, end) in places:
        month = month_number(name)
        if month is None:
            continue
        year = _YEAR.match(text, end)
        if year is None:
            if name not in _OTHER_WORDS and 1 <= int(day) <= 31:
                yield WrittenDate(start, end, frozenset(), (month, int(day)))
        elif days := frozenset(_days(year["full"] or year["short"], month, day)):
            yield WrittenDate(start, year.end(), days)


def month_number(name: str) -> int | None:
    """Returns the number of a month by its name; None for any other word."""
    return _NUMBER_OF_MONTH.get(name.lower())


def _days(year: str, month: int, day: str) -> Iterator[date]:
    for full in (int(year),) if len(year) == 4 else (2000 + int(year), 1900 + int(year)):
        try:
            yield date(full, month, int(day))
        except ValueError:
            continue


def date_shaped_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields texts that are written as a day with its year, also if there is no such day."""
    yield from (found.span() for found in _NUMERIC_SHAPE.finditer(text))
    for found in _NAMED_SHAPE.finditer(text):
        if month_number(found[1] or found[2]) is not None:
            yield found.span()


def written_months(text: str) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Yields start, end, and the year and month, of each month with its year."""
    for found in _MONTH_AND_YEAR.finditer(text):
        month = month_number(found[1])
        if month is not None:
            yield *found.span(), (int(found[2]), month)


def infer_date_order(text: str) -> DateOrder | None:
    """Returns the order of day and month in the numeric dates of a text; None if no date shows it, or some contradict
    it.
    """
    orders: set[DateOrder] = set()
    for found in _ORDERED.finditer(text):
        first, second = int(found[1]), int(found[2])
        if first > 12 >= second:
            orders.add("day")
        elif second > 12 >= first:
            orders.add("month")
    return orders.pop() if len(orders) == 1 else None


def possible_days(written: WrittenDate, text: str, order: DateOrder | None) -> frozenset[date]:
    """Returns the days that a date may mean in a text with this order."""
    days = frozenset(
        day
        for day in written.days
        if not any(_is_in_likelier_century(other, day) for other in written.days if other is not day)
    )
    if len(days) < 2:
        return days
    shown = text[written.start : written.end]
    first = int(re.findall(r"\d+", shown)[0])
    order = "day" if "." in shown else order
    if order is None:
        return days
    return frozenset(day for day in days if (day.day if order == "day" else day.month) == first) or days


def _is_in_likelier_century(other: date, day: date) -> bool:
    """Returns whether `other` is the same day in the likelier century, of a year with two digits."""
    if (other.month, other.day) != (day.month, day.day) or other.year % 100 != day.year % 100:
        return False
    return other.year == (2000 if other.year % 100 < _CENTURY else 1900) + other.year % 100


class TimeOfDay(NamedTuple):
    """A time as it is written: `half` is "a" or "p", or empty; `second` is None where there are none."""

    hour: int
    minute: int
    half: str = ""
    second: int | None = None

    def may_be(self, other: TimeOfDay) -> bool:
        """Returns whether both may be the same time of a day: seconds count if both have some."""
        return self._minute_of_day() == other._minute_of_day() and (
            self.second is None or other.second is None or self.second == other.second
        )

    def _minute_of_day(self) -> tuple[int, int, str]:
        """Returns hour and minute, with hours up to 24 where the half of the day is known."""
        if self.half:
            return self.hour % 12 + (12 if self.half == "p" else 0), self.minute, ""
        return self.hour, self.minute, "" if self.hour > 12 or self.hour == 0 else "?"


def written_times(text: str) -> Iterator[tuple[int, int, TimeOfDay]]:
    """Yields start, end and value of the times of day."""
    for found in _TIME.finditer(text):
        hour, minute = found[1] or found[5], found[2] or found[6] or "0"
        second = None if found[3] is None else int(found[3])
        yield *found.span(), TimeOfDay(int(hour), int(minute), (found[4] or found[7] or "").lower(), second)


def dotted_times(text: str) -> Iterator[tuple[int, int, TimeOfDay]]:
    """Yields start, end and value of numbers that may be times of day, such as 9.30."""
    for found in _DOTTED_TIME.finditer(text):
        yield *found.span(), TimeOfDay(int(found[1]), int(found[2]))
