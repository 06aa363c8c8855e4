"""Spoken answers: the text of a model is spoken while it arrives, and may be interrupted."""

from .hearing import HeardExtent, SpokenPieces, heard_messages, heard_until
from .reply import Reply

__all__ = ["HeardExtent", "Reply", "SpokenPieces", "heard_messages", "heard_until"]
