"""Scores: their data, the instruments, checks, and repairs."""

from __future__ import annotations

from .instruments import INSTRUMENTS, Instrument, instrument_of
from .moving import in_key
from .repairs import repaired
from .score import Harmony, Note, Score, Section, Voice

__all__ = [
    "INSTRUMENTS",
    "Harmony",
    "Instrument",
    "Note",
    "Score",
    "Section",
    "Voice",
    "in_key",
    "instrument_of",
    "repaired",
]
