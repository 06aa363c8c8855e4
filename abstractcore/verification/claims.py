"""The figures, dates and names of an answer, with their places. Knows no sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ..schema.verifications import CheckKind
from .dates import WrittenDate, month_of, written_dates
from .names import names_in
from .written_digits import NOT_A_DAY, NOT_A_NUMBER, day_like, digits_left, spellings
from .written_numbers import Separators, WrittenNumber, numbers_in

MOST_CLAIMS = 5000
_IGNORED = re.compile(r"\[\^?\d{1,4}\]|^[ \t]{0,3}(?:(?:[-*+>]|#{1,6})[ \t]+){0,3}\d{1,3}[.)][ \t]", re.M)
"""Marks of notes, and of the items of a list."""
TIME = re.compile(
    r"(?<![\d.,:/-])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:/]|[.,]\d)(?:[ \u00a0]?([ap])\.?m\b\.?)?"
    r"|(?<![\d.,:/-])(\d{1,2})(?:[.]([0-5]\d))?[ \u00a0]?([ap])\.?m\b\.?",
    re.I,
)
_MONTH_AND_YEAR = re.compile(r"(?<![^\W_])([^\W\d_]{3,12})\.?,? (\d{4})(?!\d)")
_CODE = re.compile(
    r"(?<![\w./@-])(?:https?://[^\s<>\"')\]]{1,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"
    r"|(?=[^\s]{0,60}?\d)(?=[^\s]{0,60}?[^\W\d_])\w{1,200}(?:[-/.]\w{1,60}){0,8})(?!\w)"
)
CODE_PART = re.compile(r"(?:[/.@_?&=#+:]|-(?![a-z]{3}))\w")
CODE_PART_BEFORE = re.compile(r"\w[-/.@_?&=#+]$")
"""What continues a code, a URL or a mail address, after it and before it."""


class TimeOfDay(NamedTuple):
    """A time as it is written: `half` is "a" or "p", or empty; `second` is None where there are none."""

    hour: int
    minute: int
    half: str = ""
    second: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure, date or name: `text` at `start` to `end` of the answer, with what was read in it.

    `variants` are the texts of a name, one of which must stand in a source. `as_written` says why digits are compared
    as they are written; it is empty for all others.
    """

    kind: CheckKind
    start: int
    end: int
    text: str
    number: WrittenNumber | None = None
    date: WrittenDate | None = None
    month: tuple[int, int] | None = None
    time: TimeOfDay | None = None
    variants: tuple[str, ...] = ()
    is_code: bool = False
    as_written: str = ""


def claims_in(text: str, separators: Separators) -> tuple[list[Claim], bool]:
    """Returns the claims of an answer in order, up to 5,000, and whether there are more.

    All its digits are in a claim, but for the marks of notes and lists.
    """
    taken = bytearray(len(text))
    for found in _IGNORED.finditer(text):
        _take(taken, *found.span())
    claims: list[Claim] = []
    for kind in (_dates, _days, _months, _times, _numbers(separators), _codes, _names):
        for claim in islice(kind(text), MOST_CLAIMS + 1):
            if not any(taken[claim.start : claim.end]):
                _take(taken, claim.start, claim.end)
                claims.append(claim)
    for start, end in islice(digits_left(text, taken), MOST_CLAIMS + 1):
        digits = text[start:end]
        claims.append(Claim("number", start, end, digits, variants=spellings(digits), as_written=NOT_A_NUMBER))
    claims.sort(key=lambda each: each.start)
    return claims[:MOST_CLAIMS], len(claims) > MOST_CLAIMS


def _take(taken: bytearray, start: int, end: int) -> None:
    taken[start:end] = b"\1" * (end - start)


def _dates(text: str) -> Iterator[Claim]:
    for each in written_dates(text):
        yield Claim("date", each.start, each.end, text[each.start : each.end], date=each)


def _days(text: str) -> Iterator[Claim]:
    for start, end in day_like(text):
        yield Claim("date", start, end, text[start:end], variants=(text[start:end],), as_written=NOT_A_DAY)


def _months(text: str) -> Iterator[Claim]:
    for found in _MONTH_AND_YEAR.finditer(text):
        month = month_of(found[1])
        if month is not None:
            yield Claim("date", *found.span(), found[0], month=(int(found[2]), month))


def _times(text: str) -> Iterator[Claim]:
    for found in TIME.finditer(text):
        yield Claim("number", *found.span(), found[0], time=time_of(found))


def time_of(found: re.Match[str]) -> TimeOfDay:
    """Returns the time of a match of `TIME`."""
    hour, minute = found[1] or found[5], found[2] or found[6] or "0"
    second = None if found[3] is None else int(found[3])
    return TimeOfDay(int(hour), int(minute), (found[4] or found[7] or "").lower(), second)


def _numbers(separators: Separators):
    def numbers(text: str) -> Iterator[Claim]:
        for each in numbers_in(text, separators, is_answer=True):
            yield Claim("number", each.start, each.end, text[each.start : each.end], number=each)

    return numbers


def _codes(text: str) -> Iterator[Claim]:
    for found in _CODE.finditer(text):
        code = found[0].rstrip(".,;:")
        if any(map(str.isalpha, code)):
            yield Claim("name", found.start(), found.start() + len(code), code, variants=(code,), is_code=True)


def _names(text: str) -> Iterator[Claim]:
    for start, end, variants in names_in(text):
        yield Claim("name", start, end, text[start:end], variants=variants)
