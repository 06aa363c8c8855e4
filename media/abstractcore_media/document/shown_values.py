"""Texts of cells that another program wrote beside their values: what a text hides of its value follows it.

The languages of such texts differ, so that `1,234` may have decimals or thousands; the value decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from math import isfinite

from .office.cell_formats import CLOSE, TYPED_DIGITS, hidden_number
from .office.number_formats import exact, general

_DIGITS = re.compile(r"\d[\d.,'\u2019 \xa0\u202f]*(?:E[+-]?\d{1,3})?", re.IGNORECASE)
_FRACTION = re.compile(r"(?:(\d{1,15})\s+)?(\d{1,9})\s*/\s*(\d{1,9})")
_NO_DIGIT = re.compile(r"[^\d.,]")
_INTEGER = re.compile(r"\d+")
_DATE = re.compile(r"(-?\d{4,5})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d*)?)?)?")
_DURATION = re.compile(r"(-?)P(?:(\d{1,9})D)?T?(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,]\d*)?S)?")


def text_of_number(text: str, value: str, *, is_computed: bool) -> str:
    """Returns the text of a number, with the number itself where the text hides what matters of it."""
    if text == value:
        return text
    try:
        number = float(value)
    except ValueError:
        return text or value
    if not isfinite(number):
        return text or value
    if not text.strip():
        return general(number)
    if len(text) < 40 and _shows_number(text, number, is_computed=is_computed):
        return text
    expected = exact(number)
    found = list(_numbers(text))
    if not found:
        return text if expected in (0, 1) else f"{text} ({general(number)})"
    nearest = min(found, key=lambda each: abs(each - abs(expected)))
    if nearest == abs(expected):
        return text
    hidden = hidden_number(abs(expected), nearest, is_computed=is_computed)
    if hidden is None:
        return text
    size = f"{general(float(hidden * 100))}%" if "%" in text else general(float(hidden))
    return f"{text} ({'-' if number < 0 else ''}{size})"


def text_of_date(text: str, value: str) -> str:
    """Returns a date in ISO 8601 where the text shows all of it, else the text and the date."""
    found = _DATE.fullmatch(value)
    if found is None:
        return text or value
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups())
    clock = f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")
    has_clock = ":" in text or hour or minute or second
    date = f"{value.partition('T')[0]} {clock}" if has_clock else value.partition("T")[0]
    if not text.strip() or _shows_date(text, (year, month, day)):
        return date
    return f"{text} ({date})"


def text_of_duration(text: str, value: str) -> str:
    """Returns a time, with all of its hours where the text shows only those of the last day."""
    found = _DURATION.fullmatch(value)
    if found is None:
        return text or value
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups()[1:])
    total = (days * 24 + hours) * 3600 + minutes * 60 + seconds
    hours = total // 3600
    clock = f"{found[1]}{hours:02d}:{total // 60 % 60:02d}:{total % 60:02d}"
    if not text.strip():
        return clock
    shown = {int(each) for each in _INTEGER.findall(text[:200]) if len(each) < 10}
    return text if hours < 24 or hours in shown or total // 60 in shown or total in shown else f"{text} ({clock})"


def _shows_number(text: str, number: float, *, is_computed: bool) -> bool:
    """Returns whether a text is the number with a decimal point, or near enough; only some texts that are, are seen."""
    try:
        shown = float(text.replace(",", ""))
    except ValueError:
        return False
    if shown == number:
        return True
    digits = f"{number:.15g}"
    is_measured = is_computed or ("." in digits and "e" not in digits and len(digits.lstrip("-0.")) > TYPED_DIGITS + 1)
    return is_measured and abs(number - shown) < CLOSE * abs(number)


def _numbers(text: str) -> Iterator[Decimal]:
    """Yields the numbers that a text may stand for, whatever sign stands before them."""
    scale = -2 if "%" in text else 0
    if "/" in text and (part := _FRACTION.search(text[:100])) and int(part[3]):
        yield int(part[1] or 0) + Decimal(int(part[2])) / int(part[3])
    for found in _DIGITS.finditer(text[:200]):
        digits, _, power = found[0].upper().partition("E")
        plain = _NO_DIGIT.sub("", digits).strip(".,")
        if len(plain) > 40:
            continue
        exponent = scale + int(power or 0)
        for mark in ".,":
            whole, _, decimals = plain.rpartition(mark) if mark in plain else (plain, "", "")
            if decimals.isdecimal() or not decimals:
                number = _INTEGER.findall(whole)
                yield Decimal(f"{''.join(number) or 0}.{decimals or 0}").scaleb(exponent)


def _shows_date(text: str, date: tuple[int, int, int]) -> bool:
    year, month, day = date
    shown = Counter(int(each) for each in _INTEGER.findall(text[:200]) if len(each) < 10)
    if any(character.isalpha() for character in text):
        shown[month] += 1  # a name of the month
    for wanted in (day, month):
        if shown[wanted] < 1:
            return False
        shown[wanted] -= 1
    return shown[year] > 0 or shown[year % 100] > 0
