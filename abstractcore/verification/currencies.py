"""Currencies beside numbers, each under its ISO 4217 code. A bare "$" is one of several dollars or pesos."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DOLLAR: Final = "$"
YEN_OR_YUAN: Final = "\u00a5"
_WORDS: Final = {
    DOLLAR: "dollar dollars dollaro dollari d\u00f3lar d\u00f3lares",
    "EUR": "eur euro euros",
    "USD": "usd",
    "GBP": "gbp pound pounds",
    "JPY": "jpy yen",
    "INR": "inr rupees",
    "CHF": "chf franken",
    "CAD": "cad",
    "AUD": "aud",
    "NZD": "nzd",
    "SEK": "sek",
    "NOK": "nok",
    "DKK": "dkk",
    "PLN": "pln",
    "CZK": "czk",
    "CNY": "cny rmb yuan",
}
_BY_WORD: Final = {word: code for code, words in _WORDS.items() for word in words.split()}
_CODE_WORDS: Final = (
    "AED ARS BRL CLP COP EGP FJD HKD HUF IDR ILS ISK JMD KES KRW MXN MYR NAD NGN PKR RON RUB SAR SGD THB TTD TWD UAH "
    "VND ZAR"
)
_CODES: Final = frozenset(_CODE_WORDS.split())
"""Codes that are currencies in capitals only. ALL, PHP, TOP and TRY mean something else before most numbers."""
_SYMBOLS: Final = {
    "$": DOLLAR,
    "\u20ac": "EUR",
    "\u00a3": "GBP",
    "\u00a5": YEN_OR_YUAN,
    "\uffe5": YEN_OR_YUAN,
    "\u20b9": "INR",
    "\u20a9": "KRW",
    "\u20bd": "RUB",
    "\u20ba": "TRY",
    "\u20ab": "VND",
    "\u20aa": "ILS",
    "\u20b1": "PHP",
    "\u0e3f": "THB",
    "\u20b4": "UAH",
    "\u20a6": "NGN",
}
SYMBOLS: Final = "".join(_SYMBOLS)
_DOLLARS: Final = {
    **dict.fromkeys(("US", "USD"), "USD"),
    **dict.fromkeys(("A", "AU", "AUS", "AUD"), "AUD"),
    **dict.fromkeys(("C", "CA", "CAN", "CDN", "CAD"), "CAD"),
    **dict.fromkeys(("HK", "HKD"), "HKD"),
    **dict.fromkeys(("NZ", "NZD"), "NZD"),
    **dict.fromkeys(("S", "SG", "SGD"), "SGD"),
    **dict.fromkeys(("NT", "TW", "TWD"), "TWD"),
    **dict.fromkeys(("R", "BR", "BRL"), "BRL"),
    **dict.fromkeys(("MX", "MEX", "MXN"), "MXN"),
    **dict.fromkeys(("FJ", "FJD"), "FJD"),
    **dict.fromkeys(("J", "JM", "JMD"), "JMD"),
    **dict.fromkeys(("N", "NAD"), "NAD"),
    **dict.fromkeys(("TT", "TTD"), "TTD"),
    "ARS": "ARS",
    "CLP": "CLP",
    "COP": "COP",
}
_OTHERS: Final = {"CN\u00a5": "CNY", "RMB\u00a5": "CNY", "JP\u00a5": "JPY", "E\u00a3": "EGP", "EG\u00a3": "EGP"}
_COUNTRIES: Final = {
    **dict.fromkeys(("us", "ameri", "estad", "statu", "\u00e9tats", "etats"), "USD"),
    "austr": "AUD",
    **dict.fromkeys(("canad", "kanad"), "CAD"),
    **dict.fromkeys(("hong ", "hongk"), "HKD"),
    **dict.fromkeys(("new z", "neuse", "n\u00e9o-z", "neoze", "nieuw"), "NZD"),
    "singa": "SGD",
    **dict.fromkeys(("taiwa", "new t"), "TWD"),
}
"""The beginnings of words for a country beside "dollar", in seven languages."""
_ANY_DOLLAR: Final = frozenset(_DOLLARS.values())
_NAMED: Final = frozenset((*_WORDS, *_CODES, *_SYMBOLS.values()))
_BEFORE: Final = re.compile(
    rf"(?:(?<![^\W_])(?P<country>U\.S\.|[^\W\d_]{{1,4}})(?P<gap>[ \u00a0-]?))?"
    rf"(?P<symbol>[{SYMBOLS}])(?P<after>US|AU|NZ|HK|[ACS])?[ \u00a0\u202f]?[-\u2212]?$"
    r"|(?<![^\W_])(?P<word>[^\W\d_]{2,4})(?:[ \u00a0\u202f][-\u2212]?)?$"
)
_WORDS_OF_COUNTRY: Final = (
    r"(?P<{}>US|U\.S\.|[Hh]ong [Kk]ong|[Nn]ew (?:Zealand|Taiwan)|[^\W\d_]{{4,16}}(?:-[^\W\d_]{{4,16}})?)"
)
_DOLLAR_WORDS: Final = "(?:[Dd]ollar[si]?|[Dd]ollaro|[Dd]\u00f3lar(?:es)?)"
_AFTER: Final = re.compile(
    r"[ \u00a0\u202f\u2009-]?"
    rf"(?:(?P<sign>[{SYMBOLS}])[ \u00a0\u202f]?(?P<after>US|AU|CA|HK|NZ|SG|TW|(?<=[{SYMBOLS}])[ACS])(?!\w)"
    rf"|(?P<country>U\.S\.|[A-Z]{{1,4}})?-?(?P<symbol>[{SYMBOLS}])(?![\d\w])"
    rf"|{_WORDS_OF_COUNTRY.format('before')}[ \u00a0-]{_DOLLAR_WORDS}(?!\w)"
    rf"|{_DOLLAR_WORDS}[ \u00a0](?:d[ei]s?[ \u00a0])?{_WORDS_OF_COUNTRY.format('behind')}(?!\w))"
)


class UnitSpan(NamedTuple):
    """A unit at `start` to `end` of a text."""

    name: str
    start: int
    end: int


def currency_before(text: str, position: int) -> UnitSpan | None:
    """Returns the currency directly before a number: "EUR 5", "US$5", "$A5"; with a minus after it, "EUR -5".

    In "A $5 fee" and "at Q $5" the letters are words; joined to the symbol they name a country.
    """
    found = _BEFORE.search(text, max(position - 12, 0), position)
    if found is None:
        return None
    if found["word"] is not None:
        code = currency_of(found["word"])
        return None if code is None else UnitSpan(code, found.start(), position)
    if found["after"] is not None:
        return UnitSpan(_with_symbol(found["after"], found["symbol"]), found.start("symbol"), position)
    country = found["country"] or ""
    is_known = len(country) > 1 and _plain(country) in _DOLLARS
    if (found["gap"] == "" and (is_known or country.isupper())) or (is_known and country[0].isupper()):
        return UnitSpan(_with_symbol(country, found["symbol"]), found.start(), position)
    return UnitSpan(_SYMBOLS[found["symbol"]], found.start("symbol"), position)


def currency_after(text: str, position: int) -> UnitSpan | None:
    """Returns the currency directly after a number that needs more than one word: "5 A$", "5 US dollars"."""
    found = _AFTER.match(text, position)
    if found is None:
        return None
    words = found["before"] or found["behind"]
    if words is not None:
        code = _COUNTRIES.get(_plain(words).lower()[:5])
        return None if code is None else UnitSpan(code, position, found.end())
    country, symbol = found["country"] or found["after"] or "", found["symbol"] or found["sign"]
    return UnitSpan(_with_symbol(country, symbol), position, found.end())


def currency_of(word: str) -> str | None:
    """Returns the code of a currency that a word means."""
    return word if word in _CODES else _BY_WORD.get(word.lower()) or _SYMBOLS.get(word)


def is_currency(unit: str | None) -> bool:
    """Returns whether a unit is a currency: a code, or a symbol with a country that is not known, such as "Q$"."""
    return unit is not None and (unit in _NAMED or unit[-1] in SYMBOLS)


def may_be_same_currency(one: str, other: str) -> bool:
    """Returns whether two currencies may be one: a bare "$" is any dollar or peso, and US$ is never A$."""
    for bare, named in ((one, other), (other, one)):
        if bare == DOLLAR and (named in _ANY_DOLLAR or named[-1] == DOLLAR):
            return True
        if bare == YEN_OR_YUAN and named in ("JPY", "CNY"):
            return True
    return False


def _plain(country: str) -> str:
    return country.replace(".", "").upper()


def _with_symbol(country: str, symbol: str) -> str:
    if not country:
        return _SYMBOLS[symbol]
    name = _plain(country)
    if symbol == DOLLAR:
        return _DOLLARS.get(name, f"{name}$")
    return _OTHERS.get(f"{name}{symbol}") or currency_of(name) or f"{name}{symbol}"
