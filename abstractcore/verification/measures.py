"""What belongs to digits in running text: currency, scale and unit ("EUR 5 million", "5 km per hour"), sign, fraction.

Signs are also words: "minus 5", "5 °C below zero"; "±5" and "at least 5" are not negative. A fraction is a number
with its form, "3/4", "¾" or "1 1/2": 3/4 of a test is not 6/8.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from .currencies import DOLLAR, YEN_OR_YUAN, currency_before, is_currency, may_be_same_currency
from .units import MONEY_SCALE_WORDS, SCALE_WORDS, unit_named, unit_phrase

_AFTER: Final = re.compile(
    r"[ \u00a0\u202f\u2009-]?([^\W\d_]{1,16}(?:[\u00b2\u00b3]|\^?[23](?![\d.,]))?|[%\u2030\u00b0][CF]?)"
)
_PER: Final = re.compile(
    r"(?:/|[ \u00a0](per|pro|par|por)[ \u00a0])([^\W\d_]{1,16}(?:[\u00b2\u00b3]|\^?[23](?![\d.,]))?)"
)
_ORDINAL_ENDINGS: Final = frozenset(("st", "nd", "rd", "th"))
_MINUS_SIGNS: Final = ("-", "\u2212", "\u2011", "\uff0d")
_DASH: Final = "\u2013"
_PLUS_MINUS: Final = re.compile(
    r"(?:\u00b1|\+ ?/ ?[-\u2212\u2013]|\bplus(?: or |/| / | ou | o | oder )?(?:minus|moins|menos)"
    r"|\bm\u00e1s o menos|\bpi\u00f9 o meno)[ \u00a0\u202f]?$",
    re.I,
)
_MINUS_WORD: Final = re.compile(r"(?<!\w)(?:minus|negative|moins|menos|meno)\s$", re.I)
_AT_LEAST: Final = re.compile(r"(?<!\w)(?:au|al|lo|pelo|du|tout au)[ \u00a0]$", re.I)
"""What makes "moins" and "menos" mean "least"."""
_OPERAND: Final = re.compile(r"[\d%)][ \u00a0]$|\d[ \u00a0]?(?P<unit>[^\W\d_]{1,12}|[^\w\s])[ \u00a0]$")
_BELOW: Final = re.compile(
    r"(?:[ \u00a0](?:degrees?|grad|degr\u00e9s?|grados?|gradi|graus?))?[ \u00a0](?:below zero|unter null|sous z\u00e9ro"
    r"|bajo cero|sotto (?:lo )?zero|abaixo de zero|onder nul)(?!\w)",
    re.I,
)
_WIDEST_SIGN: Final = 24
VULGAR_FRACTIONS: Final = "\u00bc-\u00be\u2150-\u215e\u2189"
_FRACTION: Final = re.compile(
    rf"(?:(?P<whole>\d{{1,9}})(?P<gap>[ \u00a0\u202f\u2009-]?))?(?P<character>[{VULGAR_FRACTIONS}])"
    r"|(?:(?P<before>\d{1,3})[ \u00a0\u202f\u2009-])?(?P<upper>\d{1,9})[/\u2044](?P<lower>\d{1,9})(?!\d)"
)
_FRACTION_MARK: Final = re.compile(rf"[/\u2044{VULGAR_FRACTIONS}]")
_WIDEST_FRACTION: Final = 20
_USUAL_DENOMINATORS: Final = frozenset((2, 3, 4, 5, 6, 8, 16))
"""What "5 3/4" is divided by, if it is one number and not two."""
_FRACTION_CONTINUES: Final = re.compile(r"[/\u2044:_]|[.,]\d|[\u00b2\u00b3\u00b9\u2070-\u2079]")


class Measure(NamedTuple):
    """A number with what belongs to it, at `start` to `end`; `scale` is what it is multiplied by."""

    start: int
    end: int
    unit: str | None = None
    scale: Decimal | None = None


def measure_at(text: str, start: int, end: int) -> Measure | None:
    """Returns the characters beside the digits at `start` to `end`; None where they are a part of a code."""
    currency = currency_before(text, start)
    begin, unit = (start, None) if currency is None else (currency.start, currency.name)
    after = _AFTER.match(text, end)
    word = "" if after is None else after[1].lower()
    scale = SCALE_WORDS.get(word) or (MONEY_SCALE_WORDS.get(word) if unit is not None else None)
    stop = end if after is None or scale is None else after.end()
    phrase = unit_phrase(text, stop)
    if phrase is not None:
        if unit is None or may_be_same_currency(unit, phrase.name):
            unit, stop = _more_certain(unit, phrase.name), phrase.end
        return Measure(begin, stop, unit, scale)
    after = _AFTER.match(text, stop)
    if after is None:
        return Measure(begin, stop, unit, scale)
    is_joined = after.start(1) == end
    name = unit_named(after[1], is_joined=is_joined)
    if is_joined and _is_code(text, after, name, end - start):
        return None
    if name is not None and (unit is None or may_be_same_currency(unit, name)):
        unit, stop = _more_certain(unit, name), after.end()
        if not is_currency(unit):
            unit, stop = _rate(text, unit, stop)
    return Measure(begin, stop, unit, scale)


def _is_code(text: str, joined: re.Match[str], unit: str | None, digits: int) -> bool:
    """Returns whether digits with a word joined to them are not a number: "14h30", "3D", "4x4", "the 1990s"."""
    if text[joined.end() : joined.end() + 1].isdigit():
        return True
    if unit is None:
        return joined[1].lower() not in _ORDINAL_ENDINGS
    return joined[1] == "s" and digits == len("1990")


def _more_certain(before: str | None, after: str) -> str:
    """Returns the one that names the country, of the currencies before and after a number: "$5 CAD"."""
    return after if before is None or before in (DOLLAR, YEN_OR_YUAN) else before


def _rate(text: str, unit: str, stop: int) -> tuple[str, int]:
    """Returns a unit with what it is measured per, and its end: "km/h", "km per hour"; but "20 kg per box" is kg."""
    found = _PER.match(text, stop)
    per = None if found is None else unit_named(found[2])
    if found is None or (per is None and found[1] is not None):
        return unit, stop
    return f"{unit}/{per or found[2].lower()}", found.end()


class Sign(NamedTuple):
    """The sign of a number, which is at `start` to `end` with it.

    `form` is "\u00b1", or "minus" for one that may be subtracted: such a number is not the number without it.
    """

    start: int
    end: int
    is_negative: bool = False
    form: str = ""


def sign_of(text: str, start: int, end: int) -> Sign:
    """Returns the sign of a number that is at `start` to `end` with its currency and unit."""
    first = max(start - _WIDEST_SIGN, 0)
    both = _PLUS_MINUS.search(text, first, start)
    if both is not None:
        return Sign(both.start(), end, form="\u00b1")
    word = _MINUS_WORD.search(text, first, start)
    if word is not None and _AT_LEAST.search(text, first, word.start()) is None:
        if _is_subtraction(text, word.start()):
            return Sign(start, end, form="minus")
        return Sign(word.start(), end, is_negative=True)
    sign, before = text[max(start - 1, 0) : start], text[max(start - 2, 0) : max(start - 1, 0)]
    is_dash = sign == _DASH and before.strip() in ("", "(", "|")
    if is_dash or (sign in _MINUS_SIGNS and not before.isalnum()):
        return Sign(start - 1, end, is_negative=True)
    below = _BELOW.match(text, end)
    return Sign(start, end) if below is None else Sign(start, below.end(), is_negative=True)


def _is_subtraction(text: str, position: int) -> bool:
    """Returns whether a minus in words follows a number, with its unit or without: "10 minus 5"."""
    found = _OPERAND.search(text, max(position - _WIDEST_SIGN, 0), position)
    return found is not None and (found["unit"] is None or unit_named(found["unit"]) is not None)


class WrittenFraction(NamedTuple):
    """A fraction at `start` to `end`: 1\u00bd is 1.5, with the form "1/2" and the digits "1 1/2"."""

    start: int
    end: int
    digits: str
    form: str
    value: Decimal


def fractions_in(text: str) -> Iterator[WrittenFraction]:
    """Yields the fractions of a text; parts of codes, dates and paths are none, nor is anything divided by 0."""
    for found in _fraction_matches(text):
        start, whole = found.start(), found["whole"] or found["before"]
        if found["character"] is not None:
            upper, lower = unicodedata.normalize("NFKC", found["character"]).split("\u2044")
        else:
            upper, lower = found["upper"], found["lower"]
            if whole is not None and not (int(upper) < int(lower) and int(lower) in _USUAL_DENOMINATORS):
                start, whole = found.start("upper"), None
        if int(lower) == 0 or _is_part_of_code(text, start, found.end()):
            continue
        form = f"{int(upper)}/{int(lower)}"
        value = Decimal(int(upper)) / Decimal(int(lower)) + int(whole or 0)
        yield WrittenFraction(start, found.end(), form if whole is None else f"{int(whole)} {form}", form, value)


def _fraction_matches(text: str) -> Iterator[re.Match[str]]:
    end = 0
    for mark in _FRACTION_MARK.finditer(text):
        found = _FRACTION.search(text, max(mark.start() - _WIDEST_FRACTION, end), mark.end() + _WIDEST_FRACTION)
        if found is not None and found.start() <= mark.start() < found.end():
            end = found.end()
            yield found


def _is_part_of_code(text: str, start: int, end: int) -> bool:
    before, second = text[max(start - 1, 0) : start], text[max(start - 2, 0) : max(start - 1, 0)]
    if before.isalnum() or (before and before in "/\u2044:_@\\#&="):
        return True
    if before in (".", ",") and not second.isspace():
        return True
    return (before in ("-", "\u2212", "\u2013") and second.isalpha()) or _FRACTION_CONTINUES.match(
        text, end
    ) is not None
