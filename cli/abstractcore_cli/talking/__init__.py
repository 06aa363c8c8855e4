"""`abstractcore talk`: a spoken conversation, with a microphone and a loudspeaker or with files."""

from .conversation import TalkArguments, converse

__all__ = ["TalkArguments", "converse"]
