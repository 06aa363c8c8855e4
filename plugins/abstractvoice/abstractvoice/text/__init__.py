"""Text for speech: Markdown, code, tables, addresses, numbers and emoji as a voice says them."""

from .speakable import SpeakableText, speakable
from .utterances import Utterance

__all__ = ["SpeakableText", "Utterance", "speakable"]
