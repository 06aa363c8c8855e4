"""Applies the rules for English."""

from __future__ import annotations

from ..mapped import MappedText
from .rules import RULES


def english_words(text: MappedText) -> MappedText:
    """Returns text in which everything that is not a word is written as one."""
    for pattern, words in RULES:
        text = text.sub(pattern, words)
    return text
