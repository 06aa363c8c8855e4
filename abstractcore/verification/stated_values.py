"""Whether a quote states a value: numbers and dates in any common format, texts up to their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from ..schema.quote_search import SearchedText, WorkBudget, normal
from .dates import written_dates
from .written_numbers import possible_values

_SPACES = " \u00a0\u202f\u2009"
_DIGITS_WITH_SEPARATORS = re.compile(rf"\d+(?:[.,'\u2019{_SPACES}]\d+)*")
_MOST_DIGITS = 50
_AFTER = re.compile(r"\s*(%|[a-z]+)", re.IGNORECASE)
_SCALE_WORDS = {
    "%": (Decimal("0.01"), Decimal(1)),
    **dict.fromkeys(("k", "thousand", "tsd", "mille", "mil"), (Decimal(1000), Decimal(1))),
    **dict.fromkeys(
        ("m", "mm", "mio", "mn", "million", "millions", "millionen", "millones"), (Decimal(10**6), Decimal(1))
    ),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "milliarden", "milliards"), (Decimal(10**9), Decimal(1))),
}
"""What a number means with a word after it; it may be a unit instead, so the number itself is possible too."""
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})\S*)?")
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?")
_CURRENCIES = {
    "\u20ac": ("EUR",),
    "\u00a3": ("GBP",),
    "$": ("USD", "AUD", "CAD", "NZD", "SGD", "HKD", "MXN"),
    "\u00a5": ("JPY", "CNY"),
    "\u20b9": ("INR",),
    "z\u0142": ("PLN",),
}
_SHORTEST_CODE = 4


def states_value(quote: str, value: Any, *, is_choice: bool = False) -> bool | None:
    """Returns whether `quote` has the JSON value, a scalar; None if that cannot be judged.

    It cannot be for yes and no, for a choice (`is_choice`) in other words, for numbers in words and dates without year.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        stated = _states_text(quote, value)
        return None if is_choice and not stated else stated
    if not _has_number(quote):
        return None
    return _states_number(quote, Decimal(str(value)))


def _states_text(quote: str, value: str) -> bool | None:
    # The quote is short; its search has no limit of its own.
    if SearchedText(quote).find(value, WorkBudget(10**9)) is not None:
        return True
    day = _ISO_DATE.fullmatch(value.strip())
    if day is not None:
        return _states_day(quote, day)
    if _PLAIN_NUMBER.fullmatch(value.strip()) and _has_number(quote):
        try:
            return _states_number(quote, Decimal(value.strip()))
        except InvalidOperation:
            return False
    if any(value.upper() in codes and symbol in quote for symbol, codes in _CURRENCIES.items()):
        return True
    code = _letters_and_digits(value)
    return len(code) >= _SHORTEST_CODE and any(map(str.isdigit, code)) and code in _letters_and_digits(quote)


def _states_day(quote: str, day: re.Match[str]) -> bool | None:
    year, month, number, hour, minute = day.groups()
    try:
        wanted = date(int(year), int(month), int(number))
    except ValueError:
        return False
    days, without_year = _dates_in(quote), _dates_without_year(quote)
    if wanted not in days:
        return False if (days or without_year) and (wanted.month, wanted.day) not in without_year else None
    if hour is None or (hour, minute) == ("00", "00"):
        return True
    return True if f"{int(hour)}:{minute}" in quote or f"{int(hour)}.{minute}" in quote else None


def _dates_in(text: str) -> set[date]:
    """Returns every day that a date in `text` may mean: "03/04/2026" is in March or in April."""
    return {day for written in written_dates(text) for day in written.days}


def _dates_without_year(text: str) -> set[tuple[int, int]]:
    """Returns the month and the day of every date with the name of a month, and without a year."""
    return {written.month_and_day for written in written_dates(text) if written.month_and_day is not None}


def _letters_and_digits(text: str) -> str:
    """Returns the letters and digits alone: "DE89 3704" and "DE893704" are the same number of an account."""
    return "".join(filter(str.isalnum, normal(text)))


def _has_number(text: str) -> bool:
    """Returns whether there is a number in digits."""
    return _DIGITS_WITH_SEPARATORS.search(text) is not None


def _states_number(text: str, value: Decimal) -> bool:
    """Returns whether a number in `text` may mean `value`: "1,234.50", "1.234,50", "1 234,50", "19 %", "1.2 million".

    A negative value needs a minus or a bracket before the number, or a minus after it.
    """
    wanted = abs(value)
    for found in _DIGITS_WITH_SEPARATORS.finditer(text):
        begin, end = found.span()
        before, after = text[max(begin - 3, 0) : begin].rstrip()[-1:], text[end : end + 3].lstrip()[:1]
        if value < 0 and before not in ("-", "\u2212", "(", "\u2013") and after not in ("-", "\u2212"):
            continue
        following = _AFTER.match(text, end, end + 20)
        scales = _SCALE_WORDS.get(following[1].lower(), ()) if following is not None else ()
        if any(number * scale == wanted for number in _meanings(found[0]) for scale in (*scales, Decimal(1))):
            return True
    return False


def _meanings(text: str) -> Iterator[Decimal]:
    """Yields the values of digits with separators between them."""
    if len(text) <= _MOST_DIGITS:
        yield from possible_values(text)
    for piece in re.split(f"[{_SPACES}]", text):
        if len(piece) <= _MOST_DIGITS:
            numbers = list(possible_values(piece))
            # The numbers of a date or a version: "14.03.2026".
            yield from numbers or (Decimal(digits) for digits in re.findall(r"\d+", piece))
