"""Names of pitches: letters and accidentals, by their place on the line of fifths, where C is 0 and G is 1."""

from __future__ import annotations

import re

LETTERS = "FCGDAEB"
"""The naturals in order of fifths; F is -1."""
_SIGNS = {"": 0, "#": 1, "##": 2, "x": 2, "b": -1, "bb": -2}
_NAME = re.compile(r"([A-Ga-g])(##|#|x|bb|b|)")
_WORDS = {"♯": "#", "♭": "b", "♮": ""}


def plain_signs(text: str) -> str:
    """Returns a text with `#` and `b` for the accidentals that are written as words or signs."""
    for sign, plain in _WORDS.items():
        text = text.replace(sign, plain)
    return re.sub(r"(?<=\b[A-Ga-g])[ -]?(sharp|flat)\b", lambda found: "#" if found[1] == "sharp" else "b", text)


def fifths_of(name: str) -> int | None:
    """Returns the place of a pitch name on the line of fifths: 0 for C, -2 for Bb; None for other texts."""
    found = _NAME.fullmatch(name)
    return None if found is None else LETTERS.index(found[1].upper()) - 1 + 7 * _SIGNS[found[2]]


def pitch_class_of(fifths: int) -> int:
    """Returns the pitch class, 0 to 11 from C, of a place on the line of fifths."""
    return fifths * 7 % 12


def letter_and_alteration(fifths: int) -> tuple[str, int]:
    """Returns the letter of a place on the line of fifths, and its sharps (above zero) or flats (below)."""
    return LETTERS[(fifths + 1) % 7], (fifths + 1) // 7


def name_of(fifths: int) -> str:
    """Returns the name of a place on the line of fifths: `F#`."""
    letter, alteration = letter_and_alteration(fifths)
    return letter + ("#" * alteration if alteration > 0 else "b" * -alteration)


def nearest_fifths(pitch_class: int, lowest: int) -> int:
    """Returns the place of a pitch class among the twelve places from `lowest` up."""
    return lowest + (pitch_class * 7 - lowest) % 12
