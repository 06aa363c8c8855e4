"""Scores as language models write them: their data, the instruction, and how they are read and repaired."""

from __future__ import annotations

from .instructions import instruction_for
from .reading import ScoreReading, read_score
from .sheets import Sheet, SheetSection, SheetVoice

__all__ = ["ScoreReading", "Sheet", "SheetSection", "SheetVoice", "instruction_for", "read_score"]
