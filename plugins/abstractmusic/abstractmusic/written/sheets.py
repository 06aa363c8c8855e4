"""`Sheet`: a song as a language model writes it, the `response_model` of its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PartName = Literal["melody", "counter", "chords", "pad", "bass"]


@dataclass(frozen=True, slots=True)
class SheetVoice:
    """What one instrument plays in a section: a text for each bar, such as `E4:1 G4:0.5 A4:0.5 r:2`."""

    part: PartName
    instrument: str
    bars: list[str]


@dataclass(frozen=True, slots=True)
class SheetSection:
    """A section of a song: chords for each bar, such as `Am` or `Dm G7`, its voices, and the words of its melody."""

    name: str
    chords: list[str]
    voices: list[SheetVoice]
    lyrics: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A song: key, meter and tempo, the style of its accompaniment, and its sections in order."""

    title: str
    key: str
    meter: str
    tempo: float
    style: str
    sections: list[SheetSection] = field(default_factory=list[SheetSection])
