"""Units that stand beside numbers, each under one name, currencies included, and words that scale a number."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from .currencies import currency_of

_NAMES: Final = {
    "%": "% percent pct prozent pourcent procent",
    "\u2030": "\u2030",
    "cent": "cent cents",
    "kg": "kg kilogram kilograms kilogramm kilo kilos",
    "g": "g gram grams gramm",
    "mg": "mg",
    "t": "t tonne tonnes tonnen",
    "m": "m metre metres meter meters",
    "mile": "mile miles",
    "ft": "ft foot feet",
    "lb": "lb lbs",
    "oz": "oz ounce ounces",
    "cm": "cm",
    "mm": "mm",
    "km": "km kilometre kilometres kilometer kilometers",
    "m2": "m\u00b2 sqm",
    "m3": "m\u00b3",
    "l": "l litre litres liter liters",
    "ml": "ml",
    "km/h": "kmh",
    "W": "w watt watts",
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
    "V": "v volt volts",
    "A": "ampere amperes",
    "\u00b0C": "\u00b0c",
    "\u00b0F": "\u00b0f",
    "s": "s sec second seconds sekunden",
    "min": "min mins minute minutes minuten",
    "h": "h hour hours stunden",
    "day": "day days tag tage tagen jours",
    "week": "week weeks wochen",
    "month": "month months monate",
    "year": "year years jahre jahren ans",
    "KB": "kb",
    "MB": "mb",
    "GB": "gb",
    "TB": "tb",
}
_UNITS: Final = {word: name for name, words in _NAMES.items() for word in words.split(" ")}
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


def unit_of(word: str) -> str | None:
    """Returns the name of the unit that a word means; None for any other. "5 g" is a weight, "5 G" is not."""
    currency = currency_of(word)
    if currency is not None:
        return currency
    if len(word) == 1 and word.isalpha():
        return _UNITS.get(word.lower()) if word.isupper() == (word in "WV") else None
    return _UNITS.get(word.lower().translate(_RAISED))
