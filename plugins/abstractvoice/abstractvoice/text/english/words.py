"""Applies the rules for English."""

from __future__ import annotations

from ..mapped import Mapped
from .rules import RULES


def english_words(text: Mapped) -> Mapped:
    """Returns text in which everything that is not a word is written as one."""
    for pattern, words in RULES:
        text = text.sub(pattern, words)
    return text
