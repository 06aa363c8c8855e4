"""Scores as files: MIDI and MusicXML."""

from __future__ import annotations

from .midi import midi_of
from .musicxml import musicxml_of

__all__ = ["midi_of", "musicxml_of"]
