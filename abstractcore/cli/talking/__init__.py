"""`abstractcore talk`: a spoken conversation, with a microphone and a loudspeaker or with files."""

from .conversation import Conversation, converse

__all__ = ["Conversation", "converse"]
