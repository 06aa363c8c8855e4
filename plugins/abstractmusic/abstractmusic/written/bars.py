"""`BarReader`: reads the texts of bars, such as `E4:1 G4+B4:0.5 r:2.5`, and completes them."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..scores import Note
from ..theory import Meter
from ..theory.spelling import fifths_of, plain_signs

_TOKEN = re.compile(r"(?<![^\s:,|])([^\s:,|]++):(\d+(?:\.\d+)?|\.\d+|\d+/\d+)(?=[\s,|]|$)")
_PITCH = re.compile(r"([A-Ga-g](?:##|#|x|bb|b|))(-?\d)")
_RESTS = ("r", "R", "rest", "Rest", "z", "-")
_LOWEST_OCTAVE, _HIGHEST_OCTAVE = 0, 8
_MOST_PITCHES = 6
Repair = Callable[[str], None]
"""Notes what was repaired."""


def notes_of(text: str, meter: Meter, start: int, repair: Repair) -> list[Note]:
    """Returns the notes of a bar that begins at `start`. Lengths are rounded to sixteenths; a bar that is too long is
    cut, and the rest of one that is too short is silent.
    """
    notes: list[Note] = []
    at = 0
    tokens = _TOKEN.findall(plain_signs(text)[:2000])
    if unread := _TOKEN.sub("", plain_signs(text)[:2000]).strip(" ,|\n\t"):
        repair(f"left out {unread[:40]!r}")
    for name, length in tokens:
        size = _sixteenths(length)
        if at + size > meter.bar:
            repair(f"{_quarters(at + size)} quarters in a bar of {_quarters(meter.bar)}: cut")
            size = meter.bar - at
        pitches = _pitches(name, repair)
        if size > 0 and pitches:
            notes.append(Note(start + at, size, pitches))
        at += max(size, 0)
    if 0 < at < meter.bar:
        repair(f"{_quarters(at)} quarters in a bar of {_quarters(meter.bar)}: a rest follows")
    return notes


def _sixteenths(text: str) -> int:
    """Returns a length in quarters as sixteenths, at least one."""
    top, _, bottom = text.partition("/")
    quarters = float(top) / float(bottom or 1) if not bottom or float(bottom) else 0.0
    return max(round(min(quarters, 64.0) * 4), 1)


def _pitches(name: str, repair: Repair) -> tuple[int, ...]:
    """Returns the MIDI pitches of `C4+E4`; none for a rest."""
    if name in _RESTS:
        return ()
    found = [pitch for each in name.split("+")[:_MOST_PITCHES] if (pitch := _pitch(each)) is not None]
    if len(found) < len(name.split("+")):
        repair(f"{name[:20]!r} names no pitch")
    return tuple(sorted(set(found)))


def _pitch(name: str) -> int | None:
    found = _PITCH.fullmatch(name)
    if found is None or not _LOWEST_OCTAVE <= int(found[2]) <= _HIGHEST_OCTAVE:
        return None
    fifths = fifths_of(found[1])
    if fifths is None:
        return None
    natural = (fifths_of(found[1][0]) or 0) * 7 % 12
    alteration = {"": 0, "#": 1, "##": 2, "x": 2, "b": -1, "bb": -2}[found[1][1:]]
    return natural + alteration + 12 * (int(found[2]) + 1)


def _quarters(sixteenths: int) -> str:
    return f"{sixteenths / 4:g}"
