"""Spoken answers: the text of a model is spoken while it arrives, and may be interrupted."""

from .hearing import HeardExtent, SpokenPieces, heard_until, without_unheard
from .reply import Reply

__all__ = ["HeardExtent", "Reply", "SpokenPieces", "heard_until", "without_unheard"]
