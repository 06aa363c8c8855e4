"""`Key`: a tonic and a mode, with its signature and its scale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from abstractcore import InvalidInputError

from .spelling import fifths_of, letter_and_alteration, name_of, nearest_fifths, pitch_class_of, plain_signs

Mode = Literal["major", "minor", "dorian", "phrygian", "lydian", "mixolydian"]
MODES: dict[Mode, tuple[int, ...]] = {
    "major": (0, 2, 4, 5, 7, 9, 11),
    "minor": (0, 2, 3, 5, 7, 8, 10),
    "dorian": (0, 2, 3, 5, 7, 9, 10),
    "phrygian": (0, 1, 3, 5, 7, 8, 10),
    "lydian": (0, 2, 4, 6, 7, 9, 11),
    "mixolydian": (0, 2, 4, 5, 7, 9, 10),
}
"""Semitones of the scale above the tonic."""
_SIGNATURE = {"major": 0, "minor": -3, "dorian": -2, "phrygian": -4, "lydian": 1, "mixolydian": -1}
"""Fifths from the tonic's major signature to that of the mode."""
_OTHER_NAMES = {"maj": "major", "ionian": "major", "m": "minor", "min": "minor", "aeolian": "minor", "": "major"}
_MOST_ACCIDENTALS = 7
_HINT = "For example 'C major', 'F# minor', 'Bb', 'Am' or 'D dorian'."


@dataclass(frozen=True)
class Key:
    """A key. `tonic` is a pitch name: `C`, `F#`, `Bb`.

    Raises `InvalidInputError` for other names, and for keys of more than seven sharps or flats.
    """

    tonic: str
    mode: Mode = "major"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidInputError(f"no mode is called {self.mode!r}", path="key", hint=f"Modes: {', '.join(MODES)}.")
        if fifths_of(self.tonic) is None:
            raise InvalidInputError(f"no pitch is called {self.tonic[:40]!r}", path="key", hint=_HINT)
        if abs(self.fifths) > _MOST_ACCIDENTALS:
            other = name_of(nearest_fifths(self.pitch_class, -5 - _SIGNATURE[self.mode]))
            raise InvalidInputError(
                f"{self.name} has more than seven sharps or flats", path="key", hint=f"Write {other} {self.mode}."
            )

    @classmethod
    def parse(cls, text: str) -> Key:
        """Returns the key that a text names: `C minor`, `f#m`, `B flat major`, `Bb`. Raises `InvalidInputError`."""
        plain = plain_signs(text.strip())
        found = re.fullmatch(r"([A-Ga-g])(##|#|bb|b|)[\s-]*([A-Za-z]*)", plain[:40])
        mode = "" if found is None else found[3] if found[3] in ("m", "M") else found[3].lower()
        mode = "major" if mode == "M" else _OTHER_NAMES.get(mode, mode)
        if found is None or mode not in MODES:
            raise InvalidInputError(f"no key is called {text[:40]!r}", path="key", hint=_HINT)
        return cls(found[1].upper() + found[2], mode)

    @property
    def name(self) -> str:
        """The tonic and the mode: `F# minor`."""
        return f"{self.tonic} {self.mode}"

    @property
    def fifths(self) -> int:
        """The sharps (above zero) or flats (below) of the signature."""
        return self._tonic_fifths + _SIGNATURE[self.mode]

    @property
    def pitch_class(self) -> int:
        """The pitch class of the tonic: semitones above C."""
        return pitch_class_of(self._tonic_fifths)

    @property
    def is_minor(self) -> bool:
        """Whether the third above the tonic is minor."""
        return 3 in MODES[self.mode]

    @cached_property
    def scale(self) -> tuple[int, ...]:
        """The pitch classes of the scale, from the tonic up."""
        return tuple((self.pitch_class + step) % 12 for step in MODES[self.mode])

    def spelled(self, pitch: int) -> tuple[str, int, int]:
        """Returns letter, alteration and octave of a MIDI pitch, as the key writes it: F, 1, 4 for 66 in D major."""
        fifths = self._fifths_of_class(pitch % 12)
        letter, alteration = letter_and_alteration(fifths)
        return letter, alteration, (pitch - alteration) // 12 - 1

    def name_of_class(self, pitch_class: int) -> str:
        """Returns the name of a pitch class, as the key writes it."""
        return name_of(self._fifths_of_class(pitch_class))

    def _fifths_of_class(self, pitch_class: int) -> int:
        return nearest_fifths(pitch_class, self.fifths - (3 if self.is_minor else 4))

    @property
    def _tonic_fifths(self) -> int:
        return cast("int", fifths_of(self.tonic))
