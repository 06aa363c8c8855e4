"""Signs of numbers, also in words: "-5", "minus 5", "5 °C below zero"; "±5" and "at least 5" are not negative."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .units import unit_of

_CHARACTERS: Final = ("-", "\u2212", "\u2011", "\uff0d")
_DASH: Final = "\u2013"
_BOTH: Final = re.compile(
    r"(?:\u00b1|\+ ?/ ?[-\u2212\u2013]|\bplus(?: or |/| / | ou | o | oder )?(?:minus|moins|menos)"
    r"|\bm\u00e1s o menos|\bpi\u00f9 o meno)[ \u00a0\u202f]?$",
    re.I,
)
_WORD: Final = re.compile(r"(?<!\w)(?:minus|negative|moins|menos|meno)\s$", re.I)
_AT_LEAST: Final = re.compile(r"(?<!\w)(?:au|al|lo|pelo|du|tout au)[ \u00a0]$", re.I)
"""What makes "moins" and "menos" mean "least"."""
_OPERAND: Final = re.compile(r"[\d%)][ \u00a0]$|\d[ \u00a0]?(?P<unit>[^\W\d_]{1,12}|[^\w\s])[ \u00a0]$")
_BELOW: Final = re.compile(
    r"(?:[ \u00a0](?:degrees?|grad|degr\u00e9s?|grados?|gradi|graus?))?[ \u00a0](?:below zero|unter null|sous z\u00e9ro"
    r"|bajo cero|sotto (?:lo )?zero|abaixo de zero|onder nul)(?!\w)",
    re.I,
)
_WIDEST: Final = 24


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
    first = max(start - _WIDEST, 0)
    both = _BOTH.search(text, first, start)
    if both is not None:
        return Sign(both.start(), end, form="\u00b1")
    word = _WORD.search(text, first, start)
    if word is not None and _AT_LEAST.search(text, first, word.start()) is None:
        if _is_operator(text, word.start()):
            return Sign(start, end, form="minus")
        return Sign(word.start(), end, is_negative=True)
    sign, before = text[max(start - 1, 0) : start], text[max(start - 2, 0) : max(start - 1, 0)]
    is_dash = sign == _DASH and before.strip() in ("", "(", "|")
    if is_dash or (sign in _CHARACTERS and not before.isalnum()):
        return Sign(start - 1, end, is_negative=True)
    below = _BELOW.match(text, end)
    return Sign(start, end) if below is None else Sign(start, below.end(), is_negative=True)


def _is_operator(text: str, position: int) -> bool:
    """Returns whether a minus in words follows a number, with its unit or without: "10 minus 5"."""
    found = _OPERAND.search(text, max(position - _WIDEST, 0), position)
    return found is not None and (found["unit"] is None or unit_of(found["unit"]) is not None)
