"""Dates, times of day and years as English words."""

from __future__ import annotations

import re

from ..tables import one_of, table, word_list
from .numbers import cardinal, ordinal, year

_MONTHS = word_list("months")
_SHORT = table("months")
_MONTH = f"(?P<month>{one_of({**_SHORT, **{month: month for month in _MONTHS}})})"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})"
_NO_MORE = r"(?![\w:/]|[.,]\d)"
TIME_MARK = re.compile(r"(?<=\d-\d\d)T(?=\d\d:\d\d)")
ISO_DATE = re.compile(rf"(?<![\w/-]){_YEAR}-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w/-])")
MONTH_DAY = re.compile(rf"\b{_MONTH}\.?\s{_DAY}(?:,?\s{_YEAR})?{_NO_MORE}")
DAY_MONTH = re.compile(
    rf"(?:\b[Tt]he\s)?(?<![\w.,:/-]){_DAY}\s(?:of\s)?{_MONTH}\b(?:\.(?=\s\d))?(?:,?\s{_YEAR}(?![\w]|[.,]\d))?"
)
MONTH_YEAR = re.compile(rf"\b{_MONTH}\.?\s{_YEAR}{_NO_MORE}")
_DAYS = table("days")
SHORT_DAY = re.compile(rf"\b(?P<day>{one_of(_DAYS)})(?:\.|(?=,))(?=[\s,])")
DECADE = re.compile(
    r"(?<![\w.,])(?P<decade>1[1-9]\d0|20[1-9]0)s\b|(?:(?<![\w.,])['\u2019]|(?<=\bthe ))(?P<short>[1-9]0)s\b"
)
YEAR = re.compile(
    r"(?P<before>\b(?:in|since|until|till|year|during|early|late|mid|spring|summer|autumn|fall|winter|Q[1-4],?|circa|"
    r"by|from|of|before|after|between|to|and|around)\s|\()(?P<year>1[1-9]\d\d|20\d\d)"
    r"(?![\w%\u00b0]|[.,:]\d|\s?[\u20ac$%\u00b0])(?=(?P<after>\s[a-z]+)?)",
    re.IGNORECASE,
)
_AFTER_YEARS = frozenset(word_list("after_years"))
_HALF = r"(?P<half>[aApP])\.?[mM]\b\.?"
TIME = re.compile(
    r"(?<![\w.,:/-])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
    rf"(?:\s?{_HALF})?(?![\w:/])"
)
HOUR = re.compile(rf"(?<![\w.,:/-])(?P<hour>1[0-2]|0?[1-9])\s?{_HALF}")


def date(match: re.Match[str]) -> str:
    """Returns a day or a month as words, as in "March fifth, twenty twenty four"."""
    found = match.groupdict()
    month = found["month"]
    name = _MONTHS[int(month) - 1] if month.isdecimal() else _SHORT.get(month, month)
    day = f" {ordinal(found['day'].lstrip('0'))}" if found.get("day") else ""
    said = f"{name}{day}"
    return f"{said}{',' if day else ''} {year(found['year'])}" if found.get("year") else said


def short_day(match: re.Match[str]) -> str:
    """Returns the day of the week."""
    return _DAYS[match["day"]]


def decade(match: re.Match[str]) -> str:
    """Returns a decade, as in "nineteen eighties"."""
    words = year(match["decade"]) if match["decade"] else cardinal(match["short"])
    return words[:-1] + "ies" if words.endswith("y") else f"{words}s"


def year_in_context(match: re.Match[str]) -> str | None:
    """Returns a year after a word that goes with years; None if the next word is probably what is counted."""
    after = (match["after"] or "").strip().lower()
    return None if after and after not in _AFTER_YEARS else match["before"] + year(match["year"])


def time_of_day(match: re.Match[str]) -> str:
    """Returns a time of day, as in "nine oh five A M"."""
    found = match.groupdict()
    minute, second, half = found.get("minute") or "00", found.get("second"), found["half"]
    said = cardinal(found["hour"].lstrip("0") or "0")
    if minute != "00":
        said += f" {'oh ' if minute[0] == '0' else ''}{cardinal(minute.lstrip('0'))}"
    elif not half and not second:
        said += " o'clock" if 0 < int(found["hour"]) <= 12 else " hundred"
    if second:
        said += f" and {cardinal(second.lstrip('0') or '0')} seconds"
    return f"{said} {half.upper()} M" if half else said
