"""Numbers in running text, each with its possible values and its unit. Parts of dates, times and codes are none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from .currencies import currency_before, is_currency
from .dates import written_dates
from .measures import VULGAR_FRACTIONS, fractions_in, measure_at, sign_of

_NUMBER = re.compile(r"\d+(?:[.,'\u2019]\d+|[ \u00a0\u202f\u2009]\d{3}(?![\d]))*")
_SPACES = " \u00a0\u202f\u2009"
_MOST_DIGITS = 40
_MOST_INFERRED = 20_000
"""Numbers of a text that its separators are inferred from."""
_FRACTION = re.compile(
    rf"[ \u00a0\u202f\u2009]?(?:[{VULGAR_FRACTIONS}]"
    r"|(?<=[ \u00a0\u202f\u2009])\d[/\u2044](?:[234568]|16)(?![\d/]))"
)
_SUPERSCRIPTS = "\u00b2\u00b3\u00b9\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
_MINUS = "-\u2212\u2013"
_SIGNS = "-\u2212"
_WIDEST_DATE = 40
_NEXT_WORD = re.compile(r"[ \u00a0\u202f]?([^\W\d_]+)")
_NEVER_COUNTED_WORDS = (
    "a after all and are as at before but by due each for from has have if in instead into is more now of on only or "
    "over per plus rather since so than that the then there through to today total under until up was were when which "
    "while will with without als am an auf aus bei bis das der die f\u00fcr im ist mit oder und von war zu zum au aux "
    "avec de des du en est et le la les ou par pour que sur con del el es para por son un una y al da di e il per"
)
_NEVER_COUNTED = frozenset(_NEVER_COUNTED_WORDS.split())
_BEFORE_YEAR = re.compile(r"\b(?:in|of|since|until|from|during|year|im|von|seit|bis|en|de|del|depuis|nel)\s$", re.I)
_LIST_MARK = re.compile(r"[.)]\s")


@dataclass(frozen=True, slots=True)
class Separators:
    """The decimal point of a text, and what separates its groups of three digits; None where that is not certain."""

    decimal: str | None = None
    grouping: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number at `start` to `end`, its sign and unit included; `digits` is as it is written.

    `values` are the values that it may have: several, if its separators are not certain. An amount in brackets may be
    negative. It is also not certain where digits with a space between them may be one number or two.
    """

    start: int
    end: int
    digits: str
    values: frozenset[Decimal]
    is_certain: bool = True
    is_piece: bool = False
    """Whether a number before it, after a space, may be its beginning."""
    unit: str | None = None
    is_year: bool = False
    in_date: bool = False
    stands_alone: bool = False
    """Whether no word follows on its line, as in a table."""
    is_counting: bool = False
    """Whether a word follows that may be what it counts, or a unit that is not known."""
    form: str = ""
    """What it has beside its value, such as "\u00b1" or "3/4": numbers of different forms are different."""


def infer_separators(text: str) -> Separators:
    """Returns the separators that the numbers of a text have where they can be read in one way only."""
    decimal: Counter[str] = Counter()
    grouping: Counter[str] = Counter()
    for count, found in enumerate(_NUMBER.finditer(text)):
        if count == _MOST_INFERRED:
            break
        marks = [" " if each in _SPACES else each for each in found[0] if not each.isdigit()]
        groups = re.split(r"\D", found[0])
        if marks.count(" ") == 1 and " " in found[0]:  # perhaps two numbers
            if len(marks) == 2 and marks[1] in ".," and len(groups[-1]) != 3:
                decimal[marks[1]] += 1
            continue
        if len(marks) == 1 and marks[0] in ".,":
            if len(groups[1]) != 3 or len(groups[0]) > 3 or groups[0].startswith("0"):
                decimal[marks[0]] += 1
        elif len(marks) > 1 and all(len(each) == 3 for each in groups[1:-1]):
            if marks[-1] not in marks[:-1] and marks[-1] in ".,":
                decimal[marks[-1]] += 1
                grouping[marks[0]] += 1
            elif len(set(marks)) == 1 and len(groups[-1]) == 3:
                grouping[marks[0]] += 1
        elif marks == [" "]:
            grouping[" "] += 1
    return Separators(_single(decimal), _single(grouping))


def _single(counted: Counter[str]) -> str | None:
    return next(iter(counted)) if len(counted) == 1 else None


def numbers_in(
    text: str, separators: Separators, *, wanted: Container[str] | None = None, is_answer: bool = False
) -> Iterator[WrittenNumber]:
    """Yields the numbers of a text, then its fractions; with `wanted`, only those whose significant digits are in it.

    Where two numbers of a table may be one number with a space (`2 590`), both are yielded, as far as `separators` do
    not decide it; an answer is read as one number.
    """
    for found in _NUMBER.finditer(text):
        for start, end in _pieces(found[0], found.start(), separators, is_answer):
            if wanted is not None and significant_digits(text[start:end]) not in wanted:
                continue
            if not is_answer and _is_list_mark(text, start, end):
                continue
            number = _number(text, start, end, separators, is_split=(start, end) != found.span())
            if number is not None:
                yield number
    for fraction in fractions_in(text):
        if wanted is None or significant_digits(fraction.digits) in wanted:
            start, end, digits, form, value = fraction
            number = _with_surroundings(text, WrittenNumber(start, end, digits, frozenset((value,)), form=form))
            if number is not None:
                yield number


def significant_digits(digits: str) -> str:
    """Returns the digits of a number without separators, and without zeros at its ends."""
    return "".join(str(int(each)) for each in digits if each.isdigit()).strip("0")


def _pieces(digits: str, start: int, separators: Separators, is_answer: bool) -> Iterator[tuple[int, int]]:
    if " " not in digits or is_answer or separators.grouping == " ":
        yield start, start + len(digits)
        return
    if separators.grouping is None:
        yield start, start + len(digits)
    position = start
    for piece in digits.split(" "):
        yield position, position + len(piece)
        position += len(piece) + 1


def _number(text: str, start: int, end: int, separators: Separators, *, is_split: bool) -> WrittenNumber | None:
    """Returns the number of these digits; None for a part of a code, a time, a fraction or a list."""
    digits = text[start:end]
    if len(digits) > _MOST_DIGITS or _is_part(text, start, end):
        return None
    values = _values(digits, separators)
    if not values:
        return None
    is_piece = is_split and separators.grouping is None
    is_certain = len(values) == 1 and not is_piece and not (" " in digits and separators.grouping != " ")
    return _with_surroundings(text, WrittenNumber(start, end, digits, values, is_certain, is_piece))


def _with_surroundings(text: str, number: WrittenNumber) -> WrittenNumber | None:
    """Returns a number with its currency, scale, unit and sign; None for a part of a code."""
    start, digits = number.start, number.digits
    measure = measure_at(text, start, number.end)
    if measure is None:
        return None
    begin, stop, unit, scale = measure
    values = number.values if scale is None else frozenset(value * scale for value in number.values)
    is_bracketed = text[max(begin - 1, 0) : begin] == "(" and text[stop : stop + 1] == ")"
    has_minus = begin < start and text[start - 1 : start] in tuple(_SIGNS)
    sign = sign_of(text, begin, stop)
    if has_minus != sign.is_negative:
        values = frozenset(-value for value in values)
    elif is_bracketed and is_currency(unit):
        values |= {-value for value in values}
    word = _NEXT_WORD.match(text, sign.end)
    stands_alone = not text[sign.end : sign.end + 2].lstrip(" \u00a0")[:1].isalpha()
    has_year = unit is None and scale is None and len(digits) == 4 and digits.isdecimal() and digits[:2] in ("19", "20")
    return replace(
        number,
        start=sign.start,
        end=sign.end,
        values=values,
        unit=unit,
        is_year=has_year and (stands_alone or _BEFORE_YEAR.search(text, max(start - 10, 0), start) is not None),
        in_date=_in_date(text, start, number.end),
        stands_alone=stands_alone,
        is_counting=word is not None and word[1].lower() not in _NEVER_COUNTED,
        form=f"{sign.form}{number.form}",
    )


def _is_part(text: str, start: int, end: int) -> bool:
    """Returns whether digits belong to a code, a time, a fraction or a power."""
    before, second = text[start - 1 : start], text[max(start - 2, 0) : max(start - 1, 0)]
    after, next_ = text[end : end + 1], text[end + 1 : end + 2]
    if before.isalpha() and currency_before(text, start) is None:
        return True
    if (before and before in "_@\\#&") or (after and after in _SUPERSCRIPTS) or after == "_":
        return True
    if _FRACTION.match(text, end):
        return True
    if before in ("/", ":", "\u2044") and second.isalnum():
        return True
    if after in ("/", ":", "\u2044") and next_.isdigit():
        return True
    if before and before in _MINUS and second.isalpha():
        return True
    if before == "." and second.isalpha():
        return True
    if (before and before in _MINUS and second.isdigit() and _is_chain(text, start)) or (
        after and after in _MINUS and next_.isdigit() and _is_chain(text, end)
    ):
        return True
    return before in (".", ",") and not second.isspace()


def _is_list_mark(text: str, start: int, end: int) -> bool:
    """Returns whether a number marks an item of a list."""
    line_start = text.rfind("\n", max(start - 12, 0), start)
    is_first = not text[max(line_start + 1, start - 12) : start].strip("#>|*- \t") and (line_start >= 0 or start < 12)
    return is_first and end - start <= 3 and _LIST_MARK.match(text, end) is not None


def _is_chain(text: str, position: int) -> bool:
    """Returns whether three or more groups of digits are joined by hyphens, as in a telephone number."""
    around = text[max(position - 20, 0) : position + 20]
    return re.search(r"\d[-\u2212\u2013]\d+[-\u2212\u2013]\d", around) is not None


def _values(digits: str, separators: Separators) -> frozenset[Decimal]:
    found = list(dict.fromkeys(possible_values(digits)))
    if len(found) < 2:
        return frozenset(found)
    grouped, decimal = found[0], found[1]
    mark = next(each for each in digits if not each.isdigit())
    if digits[:1] == "0" or separators.decimal == mark:
        return frozenset((decimal,))
    if mark == separators.grouping or separators.decimal is not None:
        return frozenset((grouped,))
    return frozenset((decimal,)) if separators.grouping is not None else frozenset((grouped, decimal))


def possible_values(text: str) -> Iterator[Decimal]:
    """Yields the values that one number may have: its last separator is a decimal point, or all separate groups."""
    groups = re.findall(r"\d+", text)
    separators = re.findall(r"\D", text)
    if _is_grouped(groups, separators):
        yield Decimal("".join(groups))
    last = separators[-1:]
    if last and last[0] in ".," and last[0] not in separators[:-1] and _is_grouped(groups[:-1], separators[:-1]):
        yield Decimal(f"{''.join(groups[:-1])}.{groups[-1]}")


def _is_grouped(groups: list[str], separators: list[str]) -> bool:
    """Returns whether there is one kind of separator, of groups of three digits (in India two, but for the last)."""
    if not separators:
        return True
    if len(set(separators)) > 1 or len(groups[-1]) != 3 or len(groups[0]) > 3:
        return False
    sizes = {len(group) for group in groups[1:-1]}
    return sizes <= {3} or sizes == {2}


def _in_date(text: str, start: int, end: int) -> bool:
    first = max(start - _WIDEST_DATE, 0)
    around = text[first : end + _WIDEST_DATE]
    return any(each.start <= start - first and end - first <= each.end for each in written_dates(around))
