"""Units that stand beside numbers, each under one name, currencies included, and words that scale a number."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from .currencies import UnitAt, currency_after, currency_of
from .prefixed_units import SYMBOLS, WORDS

_NAMES: Final = {
    "%": "% percent pct prozent pourcent procent",
    "\u2030": "\u2030",
    "cent": "cent cents",
    "kg": "kg kilogramm kilo kilos",
    "mg": "mg",
    "t": "tonne tonnes tonnen",
    "mile": "mile miles mi",
    "ft": "ft foot feet",
    "lb": "lb lbs",
    "oz": "oz ounce ounces",
    "cm": "cm",
    "mm": "mm",
    "km": "km",
    "m\u00b2": "m\u00b2 sqm",
    "m\u00b3": "m\u00b3",
    "ml": "ml",
    "km/h": "kmh kph",
    "mile/h": "mph",
    "kW": "kw",
    "MW": "mw",
    "GW": "gw",
    "Wh": "wh",
    "kWh": "kwh",
    "MWh": "mwh",
    "GWh": "gwh",
    "Hz": "hz",
    "kHz": "khz",
    "MHz": "mhz",
    "GHz": "ghz",
    "bar": "bar",
    "psi": "psi",
    "kV": "kv",
    "\u00b0C": "\u00b0c celsius",
    "\u00b0F": "\u00b0f fahrenheit",
    "s": "sec secs sek sekunde sekunden seconde secondes segundo segundos secondo secondi",
    "min": "min mins minute minutes minuten minuto minutos minuti",
    "h": "h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur",
    "day": "day days tag tage tagen jours",
    "week": "week weeks wochen",
    "month": "month months monate",
    "year": "year years jahre jahren ans",
    "MB": "mb",
    "GB": "gb",
    "TB": "tb",
    "kbit/s": "kbps",
    "Mbit/s": "mbps",
    "Gbit/s": "gbps",
}
_UNITS: Final = {**WORDS, **{word: name for name, words in _NAMES.items() for word in words.split(" ")}}
"""Words, and symbols that are also written in other cases than they must be."""
_TEMPERATURE: Final = re.compile(
    r"[ \u00a0\u202f]?(?:\u00b0[ \u00a0]|degrees?[ \u00a0]|grad[ \u00a0])(?P<scale>[cf]|celsius|fahrenheit)(?!\w)"
    r"|[ \u00a0](?P<letter>(?-i:[CF]))(?!\w)",
    re.I,
)
SCALES: Final = {
    **dict.fromkeys(("k", "thousand", "tsd"), Decimal(1000)),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "mn"), Decimal(10**6)),
    **dict.fromkeys(("billion", "billions", "bn", "mrd", "milliarden", "milliards"), Decimal(10**9)),
    **dict.fromkeys(("trillion", "trillions", "billionen"), Decimal(10**12)),
    "hundred": Decimal(100),
    "dozen": Decimal(12),
    "lakh": Decimal(10**5),
    **dict.fromkeys(("crore", "crores"), Decimal(10**7)),
}
"""What a number with a word after it is multiplied by."""

SCALES_OF_MONEY: Final = {"m": Decimal(10**6), "mm": Decimal(10**6), "b": Decimal(10**9)}
"""What an amount is multiplied by too, if its currency stands before it: "EUR 5 m"."""
_RAISED: Final = str.maketrans({"^": None, "2": "\u00b2", "3": "\u00b3"})
_LETTERS: Final = frozenset("AJN")
"""Units that are codes where they are joined to a number: "gate 5A"."""


def unit_of(word: str, *, is_joined: bool = False) -> str | None:
    """Returns the name of the unit that a word means; None for any other.

    "5 g" is a weight, "5 G" is not; `is_joined` says that the word follows its number without a space.
    """
    currency = currency_of(word)
    if currency is not None:
        return currency
    if is_joined and word in _LETTERS:
        return None
    raised = word.translate(_RAISED)
    if raised in SYMBOLS:
        return SYMBOLS[raised]
    return None if len(word) == 1 and word.isupper() else _UNITS.get(raised.lower())


def unit_phrase(text: str, position: int) -> UnitAt | None:
    """Returns the unit after a number that is not one word: "5 US dollars", "5 degrees Celsius", "5 C"."""
    found = _TEMPERATURE.match(text, position)
    if found is None:
        return currency_after(text, position)
    name = "\u00b0C" if (found["scale"] or found["letter"])[0].upper() == "C" else "\u00b0F"
    return UnitAt(name, position, found.end())
