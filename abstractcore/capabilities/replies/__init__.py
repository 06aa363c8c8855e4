"""Spoken answers: the text of a model is spoken while it arrives, and may be interrupted."""

from .hearing import Heard, heard_until
from .messages import without_unheard
from .pieces import SpokenPieces
from .reply import Reply

__all__ = ["Heard", "Reply", "SpokenPieces", "heard_until", "without_unheard"]
