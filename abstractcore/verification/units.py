"""Units beside numbers, each under one name, with the prefixes of the SI and of IEC 80000-13: Mbit, GiB, mA.

Upper and lower case matter: mW is not MW. Source: the SI Brochure, tables 2, 4, 7 and 8,
https://www.bipm.org/en/publications/si-brochure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from .currencies import UnitSpan, currency_after, currency_of

_PREFIXES: Final = {
    "": "",
    "f": "femto",
    "p": "pico",
    "n": "nano",
    "\u00b5": "micro",
    "m": "milli",
    "c": "centi",
    "d": "deci",
    "h": "hecto",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "P": "peta",
    "Ki": "kibi",
    "Mi": "mebi",
    "Gi": "gibi",
    "Ti": "tebi",
}
_OF_DATA: Final = "k M G T P Ki Mi Gi Ti"
_PREFIXED: Final = {
    "bit": (_OF_DATA, "bit bits"),
    "B": (_OF_DATA, "byte bytes"),
    "Hz": ("m k M G T", "hertz"),
    "W": ("n \u00b5 m k M G T", "watt watts"),
    "Wh": ("m k M G T", ""),
    "Ah": ("m k", ""),
    "VA": ("k M", ""),
    "V": ("n \u00b5 m k M", "volt volts"),
    "A": ("p n \u00b5 m k", "amp amps ampere amperes"),
    "\u03a9": ("m k M G", "ohm ohms"),
    "F": ("p n \u00b5 m", "farad farads"),
    "H": ("n \u00b5 m", "henry henries"),
    "Pa": ("m h k M G", "pascal pascals"),
    "bar": ("m", ""),
    "N": ("m k", "newton newtons"),
    "Nm": ("m k", ""),
    "J": ("m k M G", "joule joules"),
    "cal": ("k", "calorie calories"),
    "eV": ("m k M G T", ""),
    "g": ("p n \u00b5 m k", "gram grams gramm gramme grammes"),
    "t": ("k M G", ""),
    "m": ("n \u00b5 m c d k", "metre metres meter meters"),
    "m\u00b2": ("m c d k", ""),
    "m\u00b3": ("m c d k", ""),
    "l": ("n \u00b5 m c d h", "litre litres liter liters"),
    "mol": ("p n \u00b5 m k", "mole moles"),
    "M": ("n \u00b5 m", ""),
    "s": ("f p n \u00b5 m", "second seconds"),
    "Bq": ("k M G T", "becquerel"),
    "Sv": ("n \u00b5 m", "sievert sieverts"),
    "Gy": ("m", ""),
    "T": ("n \u00b5 m", "tesla"),
    "dB": ("", "decibel decibels"),
    "ha": ("", "hectare hectares"),
}
_NEVER_ALONE: Final = frozenset("BFHMT")
"""Symbols that are mostly something else after a number, if they have no prefix: billions, Fahrenheit, a million."""
_OTHER_SPELLINGS: Final = {"bit": ("b",), "l": ("L",), "\u03a9": ("\u2126",)}
_OTHERS: Final = {
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


def _symbols() -> Iterator[tuple[str, str]]:
    for symbol, (prefixes, _) in _PREFIXED.items():
        for prefix in ("", *prefixes.split()):
            if not prefix and symbol in _NEVER_ALONE:
                continue
            for spelling in (symbol, *_OTHER_SPELLINGS.get(symbol, ())):
                if prefix or spelling != "b":
                    yield f"{prefix}{spelling}", f"{prefix}{symbol}"
                if prefix == "\u00b5":
                    yield f"\u03bc{spelling}", f"{prefix}{symbol}"
                    if symbol not in ("m", "s"):
                        yield f"u{spelling}", f"{prefix}{symbol}"
                if prefix == "k" and symbol in ("bit", "B"):
                    yield f"K{spelling}", f"{prefix}{symbol}"
    for prefix in ("", *_OF_DATA.split()):
        yield f"{prefix}bps", f"{prefix}bit/s"
        yield f"{prefix}Bps", f"{prefix}B/s"
    yield from (("Kbps", "kbit/s"), ("KBps", "kB/s"))


def _words() -> Iterator[tuple[str, str]]:
    for symbol, (prefixes, words) in _PREFIXED.items():
        for prefix in ("", *prefixes.split()):
            for word in words.split():
                yield f"{_PREFIXES[prefix]}{word}", f"{prefix}{symbol}"


_BY_SYMBOL: Final = dict(_symbols())
"""The name of a unit by its symbol, in upper and lower case as it must be written."""
_BY_WORD: Final = {**dict(_words()), **{word: name for name, words in _OTHERS.items() for word in words.split(" ")}}
"""Words, and symbols that are also written in other cases than they must be."""
_TEMPERATURE: Final = re.compile(
    r"[ \u00a0\u202f]?(?:\u00b0[ \u00a0]|degrees?[ \u00a0]|grad[ \u00a0])(?P<scale>[cf]|celsius|fahrenheit)(?!\w)"
    r"|[ \u00a0](?P<letter>(?-i:[CF]))(?!\w)",
    re.I,
)
SCALE_WORDS: Final = {
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

MONEY_SCALE_WORDS: Final = {"m": Decimal(10**6), "mm": Decimal(10**6), "b": Decimal(10**9)}
"""What an amount is multiplied by too, if its currency stands before it: "EUR 5 m"."""
_SUPERSCRIPTS: Final = str.maketrans({"^": None, "2": "\u00b2", "3": "\u00b3"})
_CODE_LETTERS: Final = frozenset("AJN")
"""Units that are codes where they are joined to a number: "gate 5A"."""


def unit_named(word: str, *, is_joined: bool = False) -> str | None:
    """Returns the name of the unit that a word means; None for any other.

    "5 g" is a weight, "5 G" is not; `is_joined` says that the word follows its number without a space.
    """
    currency = currency_of(word)
    if currency is not None:
        return currency
    if is_joined and word in _CODE_LETTERS:
        return None
    superscripted = word.translate(_SUPERSCRIPTS)
    if superscripted in _BY_SYMBOL:
        return _BY_SYMBOL[superscripted]
    return None if len(word) == 1 and word.isupper() else _BY_WORD.get(superscripted.lower())


def unit_phrase(text: str, position: int) -> UnitSpan | None:
    """Returns the unit after a number that is not one word: "5 US dollars", "5 degrees Celsius", "5 C"."""
    found = _TEMPERATURE.match(text, position)
    if found is None:
        return currency_after(text, position)
    name = "\u00b0C" if (found["scale"] or found["letter"])[0].upper() == "C" else "\u00b0F"
    return UnitSpan(name, position, found.end())
