"""`measures_of`: the notes of a voice divided into bars, with the rests between them and ties across bar lines."""

from __future__ import annotations

from dataclasses import dataclass

from ..scores import Note
from ..theory import Meter

VALUES = {
    16: ("whole", 0), 12: ("half", 1), 8: ("half", 0), 6: ("quarter", 1), 4: ("quarter", 0), 3: ("eighth", 1),
    2: ("eighth", 0), 1: ("16th", 0),
}  # fmt: skip
"""The name of a note value and its dots, by its sixteenths."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A note, a chord or, without pitches, a rest, as it is written in a bar.

    `in_word` is whether its syllable goes on with the word of the one before.
    """

    length: int
    pitches: tuple[int, ...] = ()
    lyric: str | None = None
    in_word: bool = False
    tied_before: bool = False
    tied_after: bool = False


def measures_of(notes: tuple[Note, ...], meter: Meter, bars: int) -> list[list[Symbol]]:
    """Returns the symbols of each bar. Notes that begin at once must be one note, and none may overlap another."""
    measures: list[list[Symbol]] = [[] for _ in range(bars)]
    at, in_word = 0, False
    for note in notes:
        _write(measures, meter, at, note.start, Note(at, note.start - at, ()))
        _write(measures, meter, note.start, note.end, note, in_word=in_word)
        at = note.end
        if note.lyric is not None:
            in_word = note.lyric.endswith("-")
    _write(measures, meter, at, bars * meter.bar, Note(at, 0, ()))
    return measures


def _write(
    measures: list[list[Symbol]], meter: Meter, start: int, end: int, note: Note, *, in_word: bool = False
) -> None:
    """Adds a note or a rest from `start` to `end`, in as many symbols as its bars and its length need."""
    begun = start
    while start < end:
        bar, position = divmod(start, meter.bar)
        piece = _longest(position, min(end - start, meter.bar - position), meter, is_rest=not note.pitches)
        measures[bar].append(
            Symbol(
                length=piece,
                pitches=note.pitches,
                lyric=note.lyric if start == begun else None,
                in_word=in_word,
                tied_before=bool(note.pitches) and start > begun,
                tied_after=bool(note.pitches) and start + piece < end,
            )
        )
        start += piece


def _longest(position: int, room: int, meter: Meter, *, is_rest: bool) -> int:
    """Returns the longest value that fits: from within a beat no further than to its end, if that is not a value."""
    if position not in meter.starts and room not in VALUES:
        following = next(start for start in (*meter.starts, meter.bar) if start > position)
        room = min(room, following - position)
    if is_rest and position in meter.starts and room < meter.bar:
        room = min(room, max(8, meter.pulse))
    return next(value for value in VALUES if value <= room)
