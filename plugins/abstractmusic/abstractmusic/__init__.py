"""Text to music for AbstractCore: scores that a model or rules compose, as MIDI, MusicXML and sound.

`compose` writes a `Score` by rules; `midi_of`, `musicxml_of` and `sound_of` make files of one. numpy, PyAV and the
synthesizer are imported when they are first used.
"""

from __future__ import annotations

from .composing import compose
from .playing import Sound, sound_of
from .scores import INSTRUMENTS, Harmony, Instrument, Note, Score, Section, Voice
from .theory import Chord, Key, Meter
from .writing import midi_of, musicxml_of

__all__ = [
    "INSTRUMENTS",
    "Chord",
    "Harmony",
    "Instrument",
    "Key",
    "Meter",
    "Note",
    "Score",
    "Section",
    "Sound",
    "Voice",
    "compose",
    "midi_of",
    "musicxml_of",
    "sound_of",
]
