"""Whether a figure of a source is the one that an answer states."""

from __future__ import annotations

from collections.abc import Set
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple

from .currencies import may_be_same
from .written_numbers import Separators, WrittenNumber

_THOUSAND = 1000


class Likeness(IntEnum):
    """How alike two figures are, the best last."""

    OTHER = 0
    OTHER_UNIT = 1
    UNCERTAIN = 2
    WITHOUT_UNIT = 3
    SAME = 4


class Compared(NamedTuple):
    """The likeness of a figure, and what there is to say of it."""

    likeness: Likeness
    reason: str | None = None


def compare(stated: WrittenNumber, found: WrittenNumber, shown: str, separators: Separators) -> Compared:
    """Compares a number of an answer with one of a source with these separators, which is `shown` there.

    "1,234" in an answer that does not show its separators is 1234, unless those of the source say otherwise.
    """
    if stated.form != found.form or (found.in_date and not stated.is_year):
        return Compared(Likeness.OTHER)
    common = stated.values & found.values
    if not common:
        return Compared(Likeness.OTHER)
    if stated.unit != found.unit:
        if stated.unit is not None and found.unit is not None and not may_be_same(stated.unit, found.unit):
            return Compared(Likeness.OTHER_UNIT, f"there it is {shown}")
        if stated.unit is None and found.unit == "%":
            return Compared(Likeness.OTHER_UNIT, f"there it is {shown}")
        if stated.unit is not None and found.unit is None and (found.is_year or not found.stands_alone):
            return Compared(Likeness.OTHER_UNIT, f"there it is {shown}, without {stated.unit}")
    is_same = _plain(stated.digits) == _plain(found.digits) and not found.is_piece
    is_plain = len(stated.values) == 1 or ("," in stated.digits and separators.decimal != "," and _is_whole(common))
    if not is_same and not (found.is_certain and is_plain):
        return Compared(Likeness.UNCERTAIN, f"{shown} may be another number there: its separators are not certain")
    if stated.unit is not None and found.unit is None:
        return Compared(Likeness.WITHOUT_UNIT, f"{stated.unit} is not beside it there")
    if stated.unit is not None and found.unit is not None and stated.unit != found.unit:
        return Compared(Likeness.WITHOUT_UNIT, f"there it is {shown}, and {stated.unit} may be another currency")
    if stated.unit is None and found.unit is not None and stated.is_counting:
        return Compared(Likeness.WITHOUT_UNIT, f"there it is {shown}")
    return Compared(Likeness.SAME)


def _is_whole(values: Set[Decimal]) -> bool:
    return all(value == value.to_integral_value() and abs(value) >= _THOUSAND for value in values)


def _plain(digits: str) -> str:
    return digits.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2009", " ").replace("\u2019", "'")
