"""Emoji as words, by the names of Unicode's own database."""

from __future__ import annotations

import re
import unicodedata

from .tables import table

_JOINER, _SELECTOR = "\u200d", "\ufe0f"
_SYMBOLS = (
    "[\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_MODIFIER = "[\U0001f3fb-\U0001f3ff]"
_PICTURE = f"{_SYMBOLS}{_SELECTOR}?{_MODIFIER}?"
_ONE = f"(?:{_FLAG}|[0-9#*]\ufe0f?\u20e3|{_PICTURE}(?:{_JOINER}{_PICTURE})*)"
EMOJI = re.compile(f"(?P<one>{_ONE})(?:\\s*(?P=one))*")
"""An emoji, with its repetitions."""
_SAID = table("emoji")
_SILENT = frozenset("\u25a0\u25a1\u25aa\u25ab\u25b6\u25ba\u25c6\u25c7\u25cb\u25cf\u25e6\u2794\u279c\u27a1\u27a4")
_NOISE = re.compile(r"\b(?:sign|symbol|emoji|with variation selector|heavy|black|white|face with)\b")
_LETTERS = 0x1F1E6


def emoji_words(emoji: str) -> str:
    """Returns the name of an emoji, or nothing for bullets and arrows."""
    first = emoji[0]
    if first in _SILENT:
        return ""
    if first in "0123456789#*":
        return first
    if "\U0001f1e6" <= first <= "\U0001f1ff":
        return f"flag of {' '.join(chr(ord(each) - _LETTERS + ord('A')) for each in emoji[:2])}"
    if first in _SAID:
        return _SAID[first]
    name = unicodedata.name(first, "").lower()
    return " ".join(_NOISE.sub(" ", name.replace("-", " ")).split())
