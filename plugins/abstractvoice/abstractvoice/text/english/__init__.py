"""Numbers, dates, amounts, symbols and abbreviations as English words."""

from .words import english_words

__all__ = ["english_words"]
