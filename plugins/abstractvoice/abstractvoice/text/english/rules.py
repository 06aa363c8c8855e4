"""The rules by which English text becomes words, in their order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from . import amounts, dates, notations
from .numbers import cardinal, number, ordinal

Rule: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]


def _always(said: str) -> Callable[[re.Match[str]], str]:
    return lambda _: said


RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<=\d)[\u2009\u202f\u00a0_](?=\d{3}(?!\d))"), _always(",")),
    (re.compile(r"[\u00a0\u2000-\u200a\u202f]"), _always(" ")),
    (re.compile(r"[\u200b-\u200f\u2060\ufe0f\u00ad]"), _always("")),
    (re.compile(r"\bC#"), _always("C sharp")),
    (notations.HASH_NUMBER, _always("number ")),
    (notations.HASHTAG, _always("hashtag ")),
    (notations.ABOUT, _always("about ")),
    (notations.MORE, _always("more than ")),
    (notations.LESS, _always("less than ")),
    (dates.TIME_MARK, _always(" at ")),
    (dates.ISO_DATE, dates.date),
    (dates.TIME, dates.time_of_day),
    (dates.HOUR, dates.time_of_day),
    (notations.RATIO, lambda match: f"{cardinal(match['first'])} to {cardinal(match['second'])}"),
    (notations.PHONE, notations.phone),
    (notations.GROUPS, notations.phone),
    (notations.FEET, notations.feet),
    (notations.POWER_OF_TEN, notations.power_of_ten),
    (notations.VERSION, notations.version),
    (notations.RANGE, _always(" to ")),
    (dates.MONTH_DAY, dates.date),
    (dates.DAY_MONTH, dates.date),
    (dates.MONTH_YEAR, dates.date),
    (dates.SHORT_DAY, dates.short_day),
    (dates.DECADE, dates.decade),
    (amounts.MONEY, amounts.money),
    (dates.YEAR, dates.year_in_context),
    (notations.VULGAR, notations.vulgar),
    (amounts.MEASURE, amounts.measure),
    (notations.FRACTION, notations.fraction),
    (notations.ORDINAL, lambda match: ordinal(match["digits"])),
    (notations.BY, lambda match: f"{number(match['first'])} by "),
    (notations.TIMES, lambda match: f"{number(match['count'])} times"),
    (notations.GLUED, lambda match: f" {number(match['number'] or match['first'])} "),
    (re.compile(rf"(?<![\w.,]){amounts.NUMBER}|\.\d+(?!\w)|\d+"), lambda match: number(match[0])),
    (notations.ABBREVIATION, notations.abbreviation),
    (notations.INITIAL, lambda match: f"{match['letter']} "),
    (notations.LAST_INITIAL, lambda match: match["letter"]),
    (notations.ROMAN, notations.roman),
    (notations.ACRONYMS, _always(" ")),
    (notations.OR, _always(" or ")),
    (notations.DASH, _always(", ")),
    (notations.SIGN, notations.sign),
    (re.compile(r"/"), _always(" slash ")),
)
