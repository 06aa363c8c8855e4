"""Whether a quote states a value: numbers and dates in any common format, texts up to their form."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from ..schema.normal_text import normal
from ..schema.quote_search import Budget, SearchedText
from .dates import dates_in, dates_without_year
from .numbers import has_digits, states_number

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


def states(quote: str, value: Any, *, is_choice: bool = False) -> bool | None:
    """Returns whether `quote` has the JSON value, a scalar; None if that cannot be judged.

    It cannot be for yes and no, for a choice (`is_choice`) in other words, for numbers in words and dates without year.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        stated = _states_text(quote, value)
        return None if is_choice and not stated else stated
    if not has_digits(quote):
        return None
    return states_number(quote, Decimal(str(value)))


def _states_text(quote: str, value: str) -> bool | None:
    # The quote is short; its search has no limit of its own.
    if SearchedText(quote).find(value, Budget(10**9)) is not None:
        return True
    day = _ISO_DATE.fullmatch(value.strip())
    if day is not None:
        return _states_day(quote, day)
    if _PLAIN_NUMBER.fullmatch(value.strip()) and has_digits(quote):
        try:
            return states_number(quote, Decimal(value.strip()))
        except InvalidOperation:
            return False
    if any(value.upper() in codes and symbol in quote for symbol, codes in _CURRENCIES.items()):
        return True
    code = _squeezed(value)
    return len(code) >= _SHORTEST_CODE and _has_digit(code) and code in _squeezed(quote)


def _states_day(quote: str, day: re.Match[str]) -> bool | None:
    year, month, number, hour, minute = day.groups()
    try:
        wanted = date(int(year), int(month), int(number))
    except ValueError:
        return False
    days, without_year = dates_in(quote), dates_without_year(quote)
    if wanted not in days:
        return False if (days or without_year) and (wanted.month, wanted.day) not in without_year else None
    if hour is None or (hour, minute) == ("00", "00"):
        return True
    return True if f"{int(hour)}:{minute}" in quote or f"{int(hour)}.{minute}" in quote else None


def _squeezed(text: str) -> str:
    """Returns the letters and digits alone: "DE89 3704" and "DE893704" are the same number of an account."""
    return "".join(filter(str.isalnum, normal(text)))


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
