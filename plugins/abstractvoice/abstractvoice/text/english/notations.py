"""Other notations as English words: telephone numbers, versions, fractions, ratios, abbreviations, numerals."""

from __future__ import annotations

import re

from ..tables import one_of, table
from .numbers import cardinal, number, spelled

_UNSIGNED = r"(?:\d{1,3}(?:,\d{3}){1,20}|\d+)(?:\.\d+)?"
_MONEY_OR_DIGIT = "[$\u20ac\u00a3]?\\d"
PHONE = re.compile(
    r"(?<![\w.])(?:(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?)?\d{2,4}[ .-]\d{3,4}[ .-]\d{2,4}|\+\d{7,15}"
    r"|\(\d{3}\)\s?\d{3}-\d{4})(?!\w|[.,]\d)"
)
GROUPS = re.compile(r"(?<![\w.-])\d+(?:-\d+){2,}(?![\w-])")
"""Digits with hyphens, such as an ISBN."""
VERSION = re.compile(
    r"(?<![\w.,])(?:(?P<v>[vV])\.?\s?(?P<parts>\d+(?:\.\d+)*)|(?P<plain>\d+\.\d+(?:\.\d+)+))(?![\w]|\.\d)"
)
RANGE = re.compile(rf"(?<=\d)\s?[\u2013-]\s?(?={_MONEY_OR_DIGIT})")
RATIO = re.compile(r"(?<![\w.,:])(?P<first>\d{1,3}):(?P<second>\d{1,3})(?![\w:]|\.\d)")
FEET = re.compile(r"(?<![\w.,])(?P<feet>\d)['\u2019]\s?(?P<inches>\d{1,2})(?:[\"\u201d]|'')")
POWER_OF_TEN = re.compile(r"(?<![\w.,])(?P<base>\d+(?:\.\d+)?)[eE](?P<exponent>[+-]?\d+)(?!\w)")
_VULGAR = table("fractions")
VULGAR = re.compile(rf"(?:(?<=\s)|^)(?P<whole>\d+)?\s?(?P<part>{one_of(_VULGAR)})")
_RATIOS = table("ratios")
FRACTION = re.compile(r"(?<![\w.,/])(?P<top>\d{1,3})/(?P<bottom>\d{1,4})(?![\w/]|\.\d)")
ORDINAL = re.compile(r"(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3}){0,20}|\d+)(?:st|nd|rd|th)\b")
BY = re.compile(rf"(?<!\d)(?P<first>{_UNSIGNED})\s?[x\u00d7]\s?(?={_UNSIGNED}\b)")
TIMES = re.compile(rf"(?<![\w.])(?P<count>{_UNSIGNED})x\b")
GLUED = re.compile(rf"(?<=[A-Za-z])-?(?P<number>{_UNSIGNED})|(?<!\d)(?P<first>{_UNSIGNED})(?=[A-Za-z])")
ABOUT = re.compile(rf"(?<![\w~])~\s?(?={_MONEY_OR_DIGIT})")
MORE = re.compile(rf"(?<![\w>])>\s?(?={_MONEY_OR_DIGIT})")
LESS = re.compile(rf"(?<![\w<])<\s?(?={_MONEY_OR_DIGIT})")
HASH_NUMBER = re.compile(r"(?<!\w)#(?=\d)|\b(?:[Nn]os?|Nr)\.\s?(?=\d)")
HASHTAG = re.compile(r"(?<!\w)#(?=[A-Za-z])")
_ABBREVIATIONS = table("abbreviations")
ABBREVIATION = re.compile(rf"(?<![\w.])(?P<name>{one_of(_ABBREVIATIONS)})\.(?=\s|,|\)|$)")
INITIAL = re.compile(r"\b(?P<letter>[A-Z])\.(?=[A-Z]\.|\s[A-Z])")
LAST_INITIAL = re.compile(r"(?<=[A-Z] )(?P<letter>[A-Z])\.(?=\s|$|,)")
_ROMANS = table("romans")
ROMAN = re.compile(rf"\b(?P<name>[A-Z][a-z]+) (?P<numeral>{one_of(_ROMANS)})\b")
ACRONYMS = re.compile(r"(?<=[A-Z]{2})/(?=[A-Z]{2})|(?<=\band)/(?=or\b)")
OR = re.compile(r"(?<=\w)\s*/\s*(?=\w)")
DASH = re.compile(r"(?:(?<!\s)\s+)?(?:\u2014|\u2013|\s--?\s|---?)\s*")
_SIGNS = table("signs")
SIGN = re.compile(one_of(_SIGNS))


def phone(match: re.Match[str]) -> str:
    """Returns groups of digits one by one, as in "plus one, five five five"."""
    groups = re.findall(r"\d+", match[0])
    return ("plus " if match[0].startswith("+") else "") + ", ".join(map(spelled, groups))


def version(match: re.Match[str]) -> str:
    """Returns a version, as in "version three point eleven"."""
    named = match.string[: match.start()].rstrip().lower().endswith("version")
    parts = (match["parts"] or match["plain"]).split(".")
    return ("version " if match["v"] and not named else "") + " point ".join(map(cardinal, parts))


def feet(match: re.Match[str]) -> str:
    """Returns a height, as in "six feet two"."""
    return f"{cardinal(match['feet'])} feet {cardinal(match['inches'])}"


def power_of_ten(match: re.Match[str]) -> str:
    """Returns a number like 1e-5."""
    return f"{number(match['base'])} times ten to the power of {number(match['exponent'])}"


def vulgar(match: re.Match[str]) -> str:
    """Returns a fraction that is one character, and the number before it."""
    part = _VULGAR[match["part"]]
    return f"{cardinal(match['whole'])} and {part}" if match["whole"] else part


def fraction(match: re.Match[str]) -> str:
    """Returns a fraction, as in "three quarters" and "seven over nine"."""
    return _RATIOS.get(match[0]) or f"{cardinal(match['top'])} over {cardinal(match['bottom'])}"


def abbreviation(match: re.Match[str]) -> str:
    """Returns the word; its stop is kept at the end of a sentence."""
    return _ABBREVIATIONS[match["name"]] + ("." if match.end() == len(match.string) else "")


def roman(match: re.Match[str]) -> str:
    """Returns a name with its number."""
    return f"{match['name']} {_ROMANS[match['numeral']]}"


def sign(match: re.Match[str]) -> str:
    """Returns the name of a sign."""
    return _SIGNS[match[0]]
