"""Amounts as English words: money, percentages, numbers with units."""

from __future__ import annotations

import re

from ..tables import one_of, table
from .numbers import cardinal, number, plural

NUMBER = r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
"""A number with its sign."""
_SCALES = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion", "bn": "billion", "mn": "million"}
_SCALE = r"(?:\s?(?P<scale>thousand|million|billion|trillion|[kKMBT]|bn|mn)\b(?!\s*/))?"
_CURRENCIES = table("currencies")
_SIGNS = one_of(_CURRENCIES)
MONEY = re.compile(
    rf"(?<![\w.,])(?:(?P<before>{_SIGNS})\s?(?P<first>{NUMBER})|(?P<last>{NUMBER})\s?(?P<after>{_SIGNS})(?!\w))"
    rf"{_SCALE}(?!\d)"
)
_UNITS, _PER = table("units"), table("per")
MEASURE = re.compile(
    rf"(?<![\w.,])(?P<amount>{NUMBER})(?P<space>\s?)(?P<unit>{one_of(_UNITS)})(?P<power>[\u00b2\u00b3])?"
    rf"(?:/(?P<per>{one_of(_PER)})(?P<per_power>[\u00b2\u00b3])?)?(?![\w\u00b2\u00b3])"
)
_NAMES = frozenset("ABJN")
"""Letters after a number and a space are more often names than units."""
_POWERS = {"\u00b2": "square ", "\u00b3": "cubic "}


def money(match: re.Match[str]) -> str:
    """Returns an amount of money as words, as in "five dollars and twenty cents"."""
    amount, scale = match["first"] or match["last"], match["scale"]
    name, _, coin = _CURRENCIES[match["before"] or match["after"]].partition("/")
    if scale:
        return f"{number(amount)} {_SCALES.get(scale.lower(), scale)} {plural(name, '2')}"
    whole, _, hundredths = amount.partition(".")
    if hundredths == "00":
        amount, hundredths = whole, ""
    if not coin or len(hundredths) != 2:
        return f"{number(amount)} {plural(name, amount)}"
    count = hundredths.lstrip("0")
    coins = f"{cardinal(count)} {plural(coin, count)}"
    return coins if whole == "0" else f"{number(whole)} {plural(name, whole)} and {coins}"


def measure(match: re.Match[str]) -> str | None:
    """Returns an amount with its unit, as in "five kilometers per hour"; None for a letter that may be a name."""
    amount, unit = match["amount"], match["unit"]
    if match["space"] and unit in _NAMES and not match["per"]:
        return None
    head, _, tail = _UNITS[unit].partition(" ")
    if head == "per":
        head, tail = f"{head} {tail}", ""
    named = f"{_POWERS.get(match['power'] or '', '')}{plural(head, amount)} {tail}".rstrip()
    per = f" per {_per(match['per'], match['per_power'] or '')}" if match["per"] else ""
    return f"{number(amount)} {named}{per}"


def _per(unit: str, power: str) -> str:
    if unit == "s" and power:
        return "second squared"
    return _POWERS.get(power, "") + _PER[unit]
