"""`Chord`: a chord by its root, quality and bass, read from symbols such as `Am7/E` and degrees such as `V7/V`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .keys import MODES, Key
from .spelling import fifths_of, pitch_class_of, plain_signs

QUALITIES: dict[str, tuple[tuple[int, ...], str]] = {
    "": ((0, 4, 7), "major"),
    "m": ((0, 3, 7), "minor"),
    "dim": ((0, 3, 6), "diminished"),
    "aug": ((0, 4, 8), "augmented"),
    "sus4": ((0, 5, 7), "suspended-fourth"),
    "sus2": ((0, 2, 7), "suspended-second"),
    "5": ((0, 7), "power"),
    "6": ((0, 4, 7, 9), "major-sixth"),
    "m6": ((0, 3, 7, 9), "minor-sixth"),
    "7": ((0, 4, 7, 10), "dominant"),
    "maj7": ((0, 4, 7, 11), "major-seventh"),
    "m7": ((0, 3, 7, 10), "minor-seventh"),
    "mmaj7": ((0, 3, 7, 11), "major-minor"),
    "dim7": ((0, 3, 6, 9), "diminished-seventh"),
    "m7b5": ((0, 3, 6, 10), "half-diminished"),
    "7sus4": ((0, 5, 7, 10), "suspended-fourth"),
    "9": ((0, 4, 7, 10, 14), "dominant-ninth"),
    "maj9": ((0, 4, 7, 11, 14), "major-ninth"),
    "m9": ((0, 3, 7, 10, 14), "minor-ninth"),
    "add9": ((0, 4, 7, 14), "major"),
    "madd9": ((0, 3, 7, 14), "minor"),
}
"""Semitones above the root, and the name of the kind in MusicXML 4.0, by suffix."""
_OTHER_SUFFIXES = {
    "maj": "", "M": "", "min": "m", "-": "m", "mi": "m", "o": "dim", "°": "dim", "+": "aug", "sus": "sus4", "2": "sus2",
    "M7": "maj7", "Δ": "maj7", "Δ7": "maj7", "min7": "m7", "-7": "m7", "mM7": "mmaj7", "m(maj7)": "mmaj7",
    "o7": "dim7", "°7": "dim7", "ø": "m7b5", "ø7": "m7b5", "min7b5": "m7b5", "m7(b5)": "m7b5", "M9": "maj9",
    "min9": "m9", "min6": "m6", "11": "9", "13": "9", "m11": "m9", "maj13": "maj9", "6/9": "6", "69": "6", "7b9": "7",
}  # fmt: skip
_NUMERALS = ("I", "II", "III", "IV", "V", "VI", "VII")
_SYMBOL = re.compile(r"([A-G](?:#|b|))([^/]*|6/9)(?:/([A-G](?:#|b|)))?")
_DEGREE = re.compile(r"([#b]?)(VII|VI|IV|V|III|II|I|vii|vi|iv|v|iii|ii|i)(o7|o|ø7|maj7|maj9|sus4|add9|6|7|9|)")


@dataclass(frozen=True, slots=True)
class Chord:
    """A chord: pitch classes of its root and bass (semitones above C), and the suffix of its quality."""

    root: int
    quality: str = ""
    bass: int | None = None

    @classmethod
    def parse(cls, symbol: str) -> Chord | None:
        """Returns the chord of a symbol: `C`, `F#m7`, `Bb/D`; None for texts that are something else."""
        found = _SYMBOL.fullmatch(plain_signs(symbol.strip())[:20])
        if found is None:
            return None
        suffix = _OTHER_SUFFIXES.get(found[2], found[2])
        if suffix not in QUALITIES:
            return None
        return cls(_class_of(found[1]), suffix, _class_of(found[3]) if found[3] else None)

    @classmethod
    def of_degree(cls, degree: str, key: Key) -> Chord:
        """Returns the chord of a degree: `ii7`, `bVII`, `viio`, `V7/V`. Capitals are major, small letters minor.

        Degrees count in the scale of the key. Raises `ValueError` for other texts.
        """
        degree, _, target = degree.partition("/")
        found = _DEGREE.fullmatch(degree)
        if found is None:
            raise ValueError(f"no degree is written {degree!r}")
        tonic, steps = key.pitch_class, MODES[key.mode]
        if target:
            tonic, steps = cls.of_degree(target, key).root, MODES["major"]
        root = tonic + steps[_NUMERALS.index(found[2].upper())] + {"#": 1, "b": -1, "": 0}[found[1]]
        return cls(root % 12, _quality(found[3], minor=found[2].islower()))

    @property
    def pitch_classes(self) -> tuple[int, ...]:
        """The pitch classes, from the root up."""
        return tuple((self.root + step) % 12 for step in QUALITIES[self.quality][0])

    @property
    def lowest(self) -> int:
        """The pitch class of the bass."""
        return self.root if self.bass is None else self.bass

    @property
    def kind(self) -> str:
        """The name of the quality in MusicXML."""
        return QUALITIES[self.quality][1]

    def symbol(self, key: Key) -> str:
        """Returns the symbol, with pitches named as the key writes them."""
        over = "" if self.bass is None or self.bass == self.root else f"/{key.name_of_class(self.bass)}"
        return key.name_of_class(self.root) + self.quality + over


def _class_of(name: str) -> int:
    return pitch_class_of(fifths_of(name) or 0)


def _quality(suffix: str, *, minor: bool) -> str:
    if suffix in ("o", "o7", "ø7"):
        return _OTHER_SUFFIXES[suffix]
    return f"m{suffix}" if minor and f"m{suffix}" in QUALITIES else suffix
