"""Scores as language models write them: their data, the instruction, and how they are read and repaired."""

from __future__ import annotations

from .instructions import instruction_for
from .reading import Reading, read_score
from .sheets import Sheet, SheetSection, SheetVoice

__all__ = ["Reading", "Sheet", "SheetSection", "SheetVoice", "instruction_for", "read_score"]
