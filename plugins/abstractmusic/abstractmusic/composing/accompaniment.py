"""`PATTERNS`: how an instrument plays chords, and voicings that move as little as they can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..scores import Instrument, Note
from ..theory import Chord, Meter


@dataclass(frozen=True, slots=True)
class Span:
    """A chord's time within one bar: it begins at `start` in the piece and at `position` in the bar."""

    chord: Chord
    start: int
    length: int
    position: int


Hit = tuple[int, int, tuple[int, ...], int]
"""Offset in the span, length, indices of the voicing's tones, and a change of the velocity."""
Pattern = Callable[[Span, Meter, int], list[Hit]]


def voicing_of(chord: Chord, instrument: Instrument, before: Sequence[int], size: int = 4) -> tuple[int, ...]:
    """Returns pitches for a chord, low to high: near those before, with its third and seventh, within the range."""
    classes = list(dict.fromkeys(chord.pitch_classes))
    if len(classes) > size:
        classes.remove(chord.pitch_classes[2])
    middle = min(max(instrument.middle, 57), 66)
    centre = sum(before) / len(before) if before else middle
    centre = min(max(centre, middle - 3), middle + 3)
    options = [
        tuple(sorted(lowest + (tone - lowest) % 12 for tone in classes))
        for lowest in range(instrument.lowest, instrument.highest - 11)
        if lowest % 12 in classes
    ]
    return min(options, key=lambda pitches: (abs(sum(pitches) / len(pitches) - centre), pitches))


def chord_notes(span: Span, meter: Meter, name: str, voicing: Sequence[int], velocity: int) -> list[Note]:
    """Returns the notes of a pattern for one chord."""
    notes: list[Note] = []
    for offset, length, indices, accent in PATTERNS[name](span, meter, len(voicing)):
        if 0 <= offset < span.length:
            pitches = tuple(dict.fromkeys(voicing[index] for index in indices if index < len(voicing)))
            length = min(length, span.length - offset)
            notes.append(Note(span.start + offset, length, pitches, min(max(velocity + accent, 1), 127)))
    return notes


def _all(size: int) -> tuple[int, ...]:
    return tuple(range(size))


def _block(span: Span, meter: Meter, size: int) -> list[Hit]:
    return [(0, span.length, _all(size), 0)]


def _beats(span: Span, meter: Meter, size: int) -> list[Hit]:
    return [(offset, length, _all(size), 6 if offset == 0 else 0) for offset, length in _beats_in(span, meter)]


def _after_beats(span: Span, meter: Meter, size: int) -> list[Hit]:
    """Chords on all beats but the first; in 4/4 and 2/4 between the beats, as marches have them."""
    if len(meter.beats) in (2, 4) and meter.beats[0] == 4:
        return [(offset + 2, 2, _all(size), -4) for offset, _ in _beats_in(span, meter)]
    beats = _beats_in(span, meter)
    return [(offset, length - 1, _all(size), -4) for offset, length in beats if span.position + offset > 0]


def _steps(unit: int, order: tuple[int, ...]) -> Pattern:
    """Single tones one after the other, in an order of the voicing's indices; -1 is the highest."""

    def pattern(span: Span, meter: Meter, size: int) -> list[Hit]:
        hits: list[Hit] = []
        for turn, offset in enumerate(range(0, span.length, unit)):
            index = order[turn % len(order)]
            accent = 6 if meter.strength(span.position + offset) else -4
            hits.append((offset, unit, ((index + size) % size if index < 0 else min(index, size - 1),), accent))
        return hits

    return pattern


def _waves(span: Span, meter: Meter, size: int) -> list[Hit]:
    """A broken chord whose last tone is held."""
    step = max(meter.pulse // 2, 1)
    held = (size - 1) * step
    return [
        (index * step, step if index < size - 1 else span.length - held, (index,), -index * 2) for index in range(size)
    ]


def _at(*places: tuple[int, int]) -> Pattern:
    """Chords at places of a 4/4 bar, each with its length; in other meters on the beats."""

    def pattern(span: Span, meter: Meter, size: int) -> list[Hit]:
        if meter.bar != 16:
            return _beats(span, meter, size)
        return [
            (place - span.position, length, _all(size), 4 if place % 4 == 0 else -4)
            for place, length in places
            if span.position <= place < span.position + span.length
        ]

    return pattern


def _eighths(span: Span, meter: Meter, size: int) -> list[Hit]:
    """Root, fifth and octave in eighths, as electric guitars play them."""
    return [
        (offset, 2, (0, min(2, size - 1)), 6 if meter.strength(span.position + offset) > 1 else -6)
        for offset in range(0, span.length, 2)
    ]


def _beats_in(span: Span, meter: Meter) -> list[tuple[int, int]]:
    """Returns offset and length of the beats within a span."""
    return [
        (start - span.position, length)
        for start, length in zip(meter.starts, meter.beats, strict=True)
        if span.position <= start < span.position + span.length
    ]


PEDALLED = ("arpeggio", "waves")
"""Patterns that are played with the pedal."""
PATTERNS: dict[str, Pattern] = {
    "block": _block,
    "pulse": _eighths,
    "beats": _beats,
    "after beats": _after_beats,
    "arpeggio": _steps(2, (0, 1, 2, -1, 2, 1)),
    "alberti": _steps(2, (0, 2, 1, 2)),
    "sixteenths": _steps(1, (0, 1, 2, 1, -1, 2, 1, 2)),
    "waves": _waves,
    "strum": _at((0, 4), (4, 2), (6, 2), (10, 2), (12, 2), (14, 2)),
    "comping": _at((0, 3), (6, 6), (14, 2)),
    "sparse": _at((0, 6), (7, 5), (12, 4)),
    "bossa": _at((0, 3), (3, 3), (6, 4), (10, 3), (13, 3)),
    "eighths": _eighths,
}
"""Patterns by name."""
