"""Units with a prefix of the SI or of IEC 80000-13: Mbit, GiB, mA. Upper and lower case matter: mW is not MW.

Source: the SI Brochure, tables 2, 4, 7 and 8, https://www.bipm.org/en/publications/si-brochure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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
_UNITS: Final = {
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


def _symbols() -> Iterator[tuple[str, str]]:
    for symbol, (prefixes, _) in _UNITS.items():
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
    for symbol, (prefixes, words) in _UNITS.items():
        for prefix in ("", *prefixes.split()):
            for word in words.split():
                yield f"{_PREFIXES[prefix]}{word}", f"{prefix}{symbol}"


SYMBOLS: Final = dict(_symbols())
"""The name of a unit by its symbol, in upper and lower case as it must be written."""
WORDS: Final = dict(_words())
"""The name of a unit by its words, in lower case."""
