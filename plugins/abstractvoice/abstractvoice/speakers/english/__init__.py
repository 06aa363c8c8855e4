"""English text as phonemes."""

from .lexicon import Lexicon
from .pronunciation import PronouncedWord, pronounced

__all__ = ["Lexicon", "PronouncedWord", "pronounced"]
