"""Keys, chords and meters: music theory without notes of a piece. Pure."""

from __future__ import annotations

from .chords import Chord
from .keys import MODES, Key, Mode
from .meters import SIXTEENTHS_PER_QUARTER, Meter

__all__ = ["MODES", "SIXTEENTHS_PER_QUARTER", "Chord", "Key", "Meter", "Mode"]
