"""`INSTRUMENTS`: what plays a voice, with its program in General MIDI and the pitches that it plays well.

In the SoundFont of the package, pitches within these ranges are less than 45 cents from their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

Clef = Literal["treble", "bass", "percussion"]


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument. `program` counts from 0; `lowest` and `highest` are MIDI pitches; `gain` is a factor of its sound.

    `pan` is its place between left (-1) and right (1), `words` are other names in prompts.
    """

    name: str
    program: int
    lowest: int
    highest: int
    clef: Clef = "treble"
    gain: float = 1.0
    pan: float = 0.0
    words: tuple[str, ...] = ()

    @property
    def is_drums(self) -> bool:
        """Whether pitches name drums."""
        return self.clef == "percussion"

    @property
    def middle(self) -> int:
        """The pitch in the middle of its range."""
        return (self.lowest + self.highest) // 2


_ROWS = (
    Instrument("piano", 0, 28, 93, gain=1.0, words=("keys", "keyboard")),
    Instrument("electric piano", 4, 36, 91, gain=0.65, pan=-0.2, words=("rhodes",)),
    Instrument("celesta", 8, 60, 94, gain=0.69, pan=0.3),
    Instrument("music box", 10, 60, 90, gain=0.78, pan=0.2, words=("glockenspiel", "bells", "chimes")),
    Instrument("vibraphone", 11, 53, 89, gain=0.78, pan=0.3, words=("vibes",)),
    Instrument("marimba", 12, 48, 96, gain=0.87, pan=0.3, words=("xylophone",)),
    Instrument("organ", 19, 36, 91, gain=0.53, words=("church organ", "pipe organ")),
    Instrument("rock organ", 17, 36, 91, gain=0.77, pan=-0.2, words=("hammond",)),
    Instrument("accordion", 21, 53, 83, gain=0.6, pan=-0.3),
    Instrument("harmonica", 22, 60, 89, gain=0.68, pan=0.2),
    Instrument("guitar", 24, 40, 79, gain=0.98, pan=-0.3, words=("nylon guitar", "classical guitar", "ukulele")),
    Instrument("steel guitar", 25, 40, 84, gain=1.1, pan=-0.3, words=("acoustic guitar", "western guitar", "mandolin")),
    Instrument("electric guitar", 27, 40, 86, gain=1.9, pan=0.3, words=("clean guitar",)),
    Instrument("distorted guitar", 30, 40, 84, gain=0.65, pan=-0.35, words=("distortion", "overdriven guitar")),
    Instrument("banjo", 105, 48, 81, gain=1.9, pan=0.3),
    Instrument("sitar", 104, 48, 81, gain=1.9, pan=0.3),
    Instrument("double bass", 32, 28, 60, "bass", 0.86, words=("upright bass", "acoustic bass", "contrabass")),
    Instrument("bass guitar", 33, 28, 60, "bass", 0.82, words=("bass", "electric bass")),
    Instrument("synth bass", 38, 28, 60, "bass", 0.95),
    Instrument("violin", 40, 55, 93, gain=0.85, pan=-0.3, words=("fiddle",)),
    Instrument("viola", 41, 48, 84, gain=0.85, pan=0.1),
    Instrument("cello", 42, 36, 76, "bass", 0.75, 0.3, words=("violoncello",)),
    Instrument("strings", 48, 36, 91, gain=1.15, words=("string section", "orchestra", "string quartet", "orchestral")),
    Instrument("pizzicato strings", 45, 36, 84, gain=0.95, pan=0.2, words=("pizzicato",)),
    Instrument("harp", 46, 31, 89, gain=0.95, pan=-0.4),
    Instrument("timpani", 47, 40, 57, "bass", 1.9),
    Instrument("choir", 52, 48, 79, gain=1.04, words=("voices", "chorale", "vocals", "singer", "voice", "singing")),
    Instrument("trumpet", 56, 55, 82, gain=1.37, pan=0.25),
    Instrument("trombone", 57, 40, 72, "bass", 0.99, 0.3),
    Instrument("tuba", 58, 29, 58, "bass", 1.3, 0.2),
    Instrument("horn", 60, 41, 77, gain=0.84, pan=-0.25, words=("french horn", "horns")),
    Instrument("brass", 61, 43, 79, gain=0.65, words=("brass section",)),
    Instrument("saxophone", 65, 49, 80, gain=1.32, pan=0.2, words=("sax", "alto sax")),
    Instrument("oboe", 68, 58, 88, gain=0.69, pan=0.15),
    Instrument("bassoon", 70, 34, 70, "bass", 0.61, 0.2),
    Instrument("clarinet", 71, 50, 88, gain=0.69, pan=-0.15),
    Instrument("flute", 73, 60, 93, gain=0.39, pan=0.15, words=("whistle", "recorder")),
    Instrument("square lead", 80, 48, 89, gain=0.21, words=("chiptune", "8-bit", "square wave")),
    Instrument("synth lead", 81, 48, 83, gain=0.47, words=("saw lead", "synthesizer", "synth")),
    Instrument("pad", 91, 36, 84, gain=1.05, words=("synth pad", "warm pad")),
    Instrument("drums", 0, 35, 81, "percussion", 1.0, words=("drum kit", "percussion", "beat", "beats")),
)
INSTRUMENTS: dict[str, Instrument] = {row.name: row for row in _ROWS}
NAMES: dict[str, Instrument] = {word: row for row in _ROWS for word in (*row.words, row.name)}
"""Instruments by all of their names."""


def instrument_of(text: str) -> Instrument | None:
    """Returns the instrument that a text names, also where it is misspelled or one word of several; else None."""
    name = " ".join(text.lower().replace("_", " ").replace("-", " ").split())
    if name in NAMES:
        return NAMES[name]
    for size in range(3, 0, -1):
        words = name.split()
        for start in range(len(words) - size, -1, -1):
            found = NAMES.get(" ".join(words[start : start + size]).removesuffix("s"))
            if found or (found := NAMES.get(" ".join(words[start : start + size]))):
                return found
    (close,) = get_close_matches(name, NAMES, 1, 0.8) or [""]
    return NAMES.get(close)
