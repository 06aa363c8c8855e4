"""English text as phonemes."""

from .lexicon import Lexicon
from .pronunciation import Said, pronounced

__all__ = ["Lexicon", "Said", "pronounced"]
