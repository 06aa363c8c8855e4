"""`ReadSource`: the numbers, dates and words of one source, each collected once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Literal

from ..schema.normal_text import normal
from ..schema.source_texts import TextSource
from .claims import TIME, TimeOfDay, time_of
from .dates import WrittenDate, written_dates
from .written_numbers import Separators, WrittenNumber, learned_separators, numbers_in, significant

DateOrder = Literal["day", "month"]
MOST_FORMS = 500
"""Forms of the same digits that are compared: 1,000, 10 kg and 0.1 have the same."""
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})\s?[/-]\s?(\d{1,2})\s?[/-]\s?(?:\d{4}|\d{2})(?!\d)")
_WITH_DOT = re.compile(r"(?<![\d.,])(\d{1,2})\.([0-5]\d)(?!\d|[.,]\d|[ \u00a0]?(?:%|\u20ac|\$|EUR|USD|GBP|kg|m\b))")
_WORD = re.compile(r"\w+")
_CENTURY = 70


class ReadSource:
    """A source of figures. `wanted` are the significant digits of the numbers that are looked for."""

    def __init__(self, source: TextSource, wanted: Set[str]) -> None:
        self.source = source
        self.text = source.searched.text
        self._wanted = wanted

    @cached_property
    def separators(self) -> Separators:
        """The separators of its numbers."""
        return learned_separators(self.text)

    @cached_property
    def numbers(self) -> dict[str, list[WrittenNumber]]:
        """The numbers that are looked for, by their significant digits: of those that compare alike, the first."""
        found: defaultdict[str, dict[WrittenNumber, WrittenNumber]] = defaultdict(dict)
        for each in numbers_in(self.text, self.separators, wanted=self._wanted):
            same = found[significant(each.digits)]
            if len(same) < MOST_FORMS:
                same.setdefault(replace(each, start=0, end=0), each)
        return {digits: list(same.values()) for digits, same in found.items()}

    @cached_property
    def dates(self) -> Sequence[tuple[WrittenDate, frozenset[date]]]:
        """The dates, with the days that they may mean."""
        order = date_order(self.text)
        return [(each, possible_days(each, self.text, order)) for each in written_dates(self.text)]

    @cached_property
    def times(self) -> Sequence[tuple[int, int, TimeOfDay]]:
        """Start, end and value of the times of day, also of numbers that may be some, such as 9.30."""
        found = [(*each.span(), time_of(each)) for each in TIME.finditer(self.text)]
        dotted = ((*each.span(), TimeOfDay(int(each[1]), int(each[2]))) for each in _WITH_DOT.finditer(self.text))
        return [*found, *dotted]

    @cached_property
    def words(self) -> Set[str]:
        """The words, in their normal form."""
        return frozenset(words_of(self.text))

    def years(self, year: int) -> Iterator[WrittenDate]:
        """Yields the dates in a year."""
        return (each for each, days in self.dates if days and all(day.year == year for day in days))


def words_of(text: str) -> list[str]:
    """Returns the words of a text, in their normal form."""
    return _WORD.findall(normal(text))


def date_order(text: str) -> DateOrder | None:
    """Returns which comes first in dates such as 03/14/2026; None if no date shows it, or some contradict it."""
    orders: set[DateOrder] = set()
    for found in _NUMERIC.finditer(text):
        first, second = int(found[1]), int(found[2])
        if first > 12 >= second:
            orders.add("day")
        elif second > 12 >= first:
            orders.add("month")
    return orders.pop() if len(orders) == 1 else None


def possible_days(written: WrittenDate, text: str, order: DateOrder | None) -> frozenset[date]:
    """Returns the days that a date may mean in a text with this order."""
    days = frozenset(
        day for day in written.days if not any(_is_better(other, day) for other in written.days if other is not day)
    )
    if len(days) < 2:
        return days
    shown = text[written.start : written.end]
    first = int(re.findall(r"\d+", shown)[0])
    order = "day" if "." in shown else order
    if order is None:
        return days
    return frozenset(day for day in days if (day.day if order == "day" else day.month) == first) or days


def _is_better(other: date, day: date) -> bool:
    """Returns whether `other` is the same day in the likelier century, of a year with two digits."""
    if (other.month, other.day) != (day.month, day.day) or other.year % 100 != day.year % 100:
        return False
    return other.year == (2000 if other.year % 100 < _CENTURY else 1900) + other.year % 100
