"""The currency, the scale and the unit beside a number: "EUR 5 million", "5 km per hour"."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, NamedTuple

from .currencies import DOLLAR, YEN_OR_YUAN, currency_before, is_currency, may_be_same
from .units import SCALES, SCALES_OF_MONEY, unit_of, unit_phrase

_AFTER: Final = re.compile(
    r"[ \u00a0\u202f\u2009-]?([^\W\d_]{1,16}(?:[\u00b2\u00b3]|\^?[23](?![\d.,]))?|[%\u2030\u00b0][CF]?)"
)
_PER: Final = re.compile(
    r"(?:/|[ \u00a0](per|pro|par|por)[ \u00a0])([^\W\d_]{1,16}(?:[\u00b2\u00b3]|\^?[23](?![\d.,]))?)"
)
_ORDINALS: Final = frozenset(("st", "nd", "rd", "th"))


class Measured(NamedTuple):
    """A number with what belongs to it, at `start` to `end`; `scale` is what it is multiplied by."""

    start: int
    end: int
    unit: str | None = None
    scale: Decimal | None = None


def measured_at(text: str, start: int, end: int) -> Measured | None:
    """Returns what stands beside the digits at `start` to `end`; None where they are a part of a code."""
    currency = currency_before(text, start)
    begin, unit = (start, None) if currency is None else (currency.start, currency.name)
    after = _AFTER.match(text, end)
    word = "" if after is None else after[1].lower()
    scale = SCALES.get(word) or (SCALES_OF_MONEY.get(word) if unit is not None else None)
    stop = end if after is None or scale is None else after.end()
    phrase = unit_phrase(text, stop)
    if phrase is not None:
        if unit is None or may_be_same(unit, phrase.name):
            unit, stop = _more_certain(unit, phrase.name), phrase.end
        return Measured(begin, stop, unit, scale)
    after = _AFTER.match(text, stop)
    if after is None:
        return Measured(begin, stop, unit, scale)
    is_joined = after.start(1) == end
    name = unit_of(after[1], is_joined=is_joined)
    if is_joined and _is_code(text, after, name, end - start):
        return None
    if name is not None and (unit is None or may_be_same(unit, name)):
        unit, stop = _more_certain(unit, name), after.end()
        if not is_currency(unit):
            unit, stop = _rate(text, unit, stop)
    return Measured(begin, stop, unit, scale)


def _is_code(text: str, joined: re.Match[str], unit: str | None, digits: int) -> bool:
    """Returns whether digits with a word joined to them are not a number: "14h30", "3D", "4x4", "the 1990s"."""
    if text[joined.end() : joined.end() + 1].isdigit():
        return True
    if unit is None:
        return joined[1].lower() not in _ORDINALS
    return joined[1] == "s" and digits == len("1990")


def _more_certain(before: str | None, after: str) -> str:
    """Returns the one that names the country, of the currencies before and after a number: "$5 CAD"."""
    return after if before is None or before in (DOLLAR, YEN_OR_YUAN) else before


def _rate(text: str, unit: str, stop: int) -> tuple[str, int]:
    """Returns a unit with what it is measured per, and its end: "km/h", "km per hour"; but "20 kg per box" is kg."""
    found = _PER.match(text, stop)
    per = None if found is None else unit_of(found[2])
    if found is None or (per is None and found[1] is not None):
        return unit, stop
    return f"{unit}/{per or found[2].lower()}", found.end()
