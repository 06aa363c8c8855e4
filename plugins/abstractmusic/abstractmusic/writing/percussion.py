"""How drums are written: on the lines of a staff of their own, hits of one time as a chord."""

from __future__ import annotations

from ..scores import Note
from ..theory import Meter

_LINES = {
    35: ("F", 4), 36: ("F", 4), 37: ("C", 5), 38: ("C", 5), 39: ("C", 5), 40: ("C", 5), 42: ("G", 5), 44: ("D", 4),
    46: ("G", 5), 41: ("A", 4), 43: ("A", 4), 45: ("A", 4), 47: ("D", 5), 48: ("E", 5), 50: ("E", 5), 49: ("A", 5),
    51: ("F", 5), 57: ("A", 5), 59: ("F", 5),
}  # fmt: skip
"""Letter and octave of a drum's place, as on the treble clef."""


def line_of(drum: int) -> tuple[str, int, int]:
    """Returns where a drum of General MIDI is written: letter, alteration (none) and octave."""
    letter, octave = _LINES.get(drum, ("B", 4))
    return letter, 0, octave


def merged(notes: tuple[Note, ...], meter: Meter) -> tuple[Note, ...]:
    """Returns hits of one time as one note that lasts until the next hit or the next beat."""
    at: dict[int, set[int]] = {}
    for note in notes:
        at.setdefault(note.start, set()).update(note.pitches)
    starts = sorted(at)
    found: list[Note] = []
    for start, following in zip(starts, [*starts[1:], starts[-1] + meter.bar if starts else 0], strict=True):
        position = start % meter.bar
        beat_end = next(end for end in (*meter.starts[1:], meter.bar) if end > position)
        found.append(Note(start, min(following - start, beat_end - position), tuple(sorted(at[start]))))
    return tuple(found)
