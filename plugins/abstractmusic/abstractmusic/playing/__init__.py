"""Scores as sound: played with a SoundFont, mixed in a room, and encoded as a file."""

from __future__ import annotations

from .decoding import transcoded
from .encoding import AUDIO_TYPES, encoded
from .mixing import RATE, Sound, sound_of
from .soundfonts import BUILT_IN

__all__ = ["AUDIO_TYPES", "BUILT_IN", "RATE", "Sound", "encoded", "sound_of", "transcoded"]
