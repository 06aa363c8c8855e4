"""`IndexedSource`: the numbers, dates and words of one source, each collected once, and the comparison of numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import date
from decimal import Decimal
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from ..schema.quote_search import normal
from ..schema.source_texts import TextSource
from .currencies import may_be_same_currency
from .dates import (
    TimeOfDay,
    WrittenDate,
    dotted_times,
    infer_date_order,
    possible_days,
    written_dates,
    written_times,
)
from .written_numbers import Separators, WrittenNumber, infer_separators, numbers_in, significant_digits

_MOST_FORMS = 500
"""Forms of the same digits that are compared: 1,000, 10 kg and 0.1 have the same."""
_WORD = re.compile(r"\w+")
_THOUSAND = 1000


class IndexedSource:
    """A source of figures. `wanted` are the significant digits of the numbers that are looked for."""

    def __init__(self, source: TextSource, wanted: Set[str]) -> None:
        self.source = source
        self.text = source.searched.text
        self._wanted = wanted

    @cached_property
    def separators(self) -> Separators:
        """The separators of its numbers."""
        return infer_separators(self.text)

    @cached_property
    def numbers(self) -> dict[str, list[WrittenNumber]]:
        """The numbers that are looked for, by their significant digits: of those that compare alike, the first."""
        found: defaultdict[str, dict[WrittenNumber, WrittenNumber]] = defaultdict(dict)
        for each in numbers_in(self.text, self.separators, wanted=self._wanted):
            same = found[significant_digits(each.digits)]
            if len(same) < _MOST_FORMS:
                same.setdefault(replace(each, start=0, end=0), each)
        return {digits: list(same.values()) for digits, same in found.items()}

    @cached_property
    def dates(self) -> Sequence[tuple[WrittenDate, frozenset[date]]]:
        """The dates, with the days that they may mean."""
        order = infer_date_order(self.text)
        return [(each, possible_days(each, self.text, order)) for each in written_dates(self.text)]

    @cached_property
    def times(self) -> Sequence[tuple[int, int, TimeOfDay]]:
        """Start, end and value of the times of day, also of numbers that may be some, such as 9.30."""
        return [*written_times(self.text), *dotted_times(self.text)]

    @cached_property
    def words(self) -> Set[str]:
        """The words, in their normal form."""
        return frozenset(words_of(self.text))


def words_of(text: str) -> list[str]:
    """Returns the words of a text, in their normal form."""
    return _WORD.findall(normal(text))


class Likeness(IntEnum):
    """How alike two figures are, the best last."""

    OTHER = 0
    OTHER_UNIT = 1
    UNCERTAIN = 2
    WITHOUT_UNIT = 3
    SAME = 4


class Comparison(NamedTuple):
    """The likeness of a figure, and what there is to say of it."""

    likeness: Likeness
    reason: str | None = None


def compare_numbers(stated: WrittenNumber, found: WrittenNumber, shown: str, separators: Separators) -> Comparison:
    """Compares a number of an answer with one of a source with these separators, which is `shown` there.

    "1,234" in an answer that does not show its separators is 1234, unless those of the source say otherwise.
    """
    if stated.form != found.form or (found.in_date and not stated.is_year):
        return Comparison(Likeness.OTHER)
    common = stated.values & found.values
    if not common:
        return Comparison(Likeness.OTHER)
    if stated.unit != found.unit:
        if stated.unit is not None and found.unit is not None and not may_be_same_currency(stated.unit, found.unit):
            return Comparison(Likeness.OTHER_UNIT, f"there it is {shown}")
        if stated.unit is None and found.unit == "%":
            return Comparison(Likeness.OTHER_UNIT, f"there it is {shown}")
        if stated.unit is not None and found.unit is None and (found.is_year or not found.stands_alone):
            return Comparison(Likeness.OTHER_UNIT, f"there it is {shown}, without {stated.unit}")
    is_same = _with_plain_spaces(stated.digits) == _with_plain_spaces(found.digits) and not found.is_piece
    is_plain = len(stated.values) == 1 or ("," in stated.digits and separators.decimal != "," and _is_whole(common))
    if not is_same and not (found.is_certain and is_plain):
        return Comparison(Likeness.UNCERTAIN, f"{shown} may be another number there: its separators are not certain")
    if stated.unit is not None and found.unit is None:
        return Comparison(Likeness.WITHOUT_UNIT, f"{stated.unit} is not beside it there")
    if stated.unit is not None and found.unit is not None and stated.unit != found.unit:
        return Comparison(Likeness.WITHOUT_UNIT, f"there it is {shown}, and {stated.unit} may be another currency")
    if stated.unit is None and found.unit is not None and stated.is_counting:
        return Comparison(Likeness.WITHOUT_UNIT, f"there it is {shown}")
    return Comparison(Likeness.SAME)


def _is_whole(values: Set[Decimal]) -> bool:
    return all(value == value.to_integral_value() and abs(value) >= _THOUSAND for value in values)


def _with_plain_spaces(digits: str) -> str:
    return digits.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2009", " ").replace("\u2019", "'")
