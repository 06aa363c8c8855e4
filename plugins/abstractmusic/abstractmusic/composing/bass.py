"""`bass_notes`: the bass line under a chord."""

from __future__ import annotations

from random import Random

from ..scores import Instrument, Note
from ..theory import Key, Meter
from .accompaniment import Span

_PUSHED = ((0, 6), (6, 2), (8, 6), (14, 2))
"""Places and lengths of a bar in 4/4."""


def bass_notes(
    span: Span, following: int, line: str, meter: Meter, key: Key, instrument: Instrument, velocity: int, random: Random
) -> list[Note]:
    """Returns the notes of a bass line under one chord. `following` is the pitch class of the next bass note."""
    root = _low(span.chord.lowest, instrument)
    fifth = _near(
        (span.chord.root + (6 if "dim" in span.chord.quality or "b5" in span.chord.quality else 7)) % 12,
        root,
        instrument,
    )
    places = _places(span, line, meter)
    notes: list[Note] = []
    for turn, (offset, length) in enumerate(places):
        pitch = root
        if line == "root and fifth" and turn % 2:
            pitch = fifth
        elif line == "walking" and turn:
            pitch = _walked(turn, len(places), root, fifth, following, span, key, instrument, random)
        elif line == "offbeats" and turn % 4 == 3:
            pitch = root + 12 if root + 12 <= instrument.highest else root
        notes.append(Note(span.start + offset, length, (pitch,), velocity if offset else velocity + 6))
    return notes


def _places(span: Span, line: str, meter: Meter) -> list[tuple[int, int]]:
    """Returns offsets and lengths of the notes in the span."""
    end = span.position + span.length
    if line == "eighths":
        return [(offset, 2) for offset in range(0, span.length, 2)]
    if line == "pushed" and meter.bar == 16:
        return _in_span(span, _PUSHED)
    if line == "offbeats":
        return [(offset, 2) for offset in range(2, span.length, 4)]
    if line in ("walking", "root and fifth"):
        beats = list(zip(meter.starts, meter.beats, strict=True))
        if line == "root and fifth" and len(beats) == 4:
            beats = [(start, length * 2) for start, length in beats[::2]]
        elif line == "root and fifth" and len(beats) == 3:
            beats = [(0, meter.bar)]
        return _in_span(span, beats) or [(0, span.length)]
    return [(0, end - span.position)]


def _in_span(span: Span, places: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    inside = [
        (start - span.position, length)
        for start, length in places
        if span.position <= start < span.position + span.length
    ]
    return [(offset, min(length, span.length - offset)) for offset, length in inside]


def _walked(
    turn: int,
    count: int,
    root: int,
    fifth: int,
    following: int,
    span: Span,
    key: Key,
    instrument: Instrument,
    random: Random,
) -> int:
    """Returns a pitch on the way: the last one leads to the next bass note by a step, others are of the chord."""
    if turn == count - 1:
        target = _near(following, root, instrument)
        below, above = target - 1, target + (2 if (target + 2) % 12 in key.scale else 1)
        return _inside(above if target < root else below, instrument)
    third = _near(span.chord.pitch_classes[1], root, instrument)
    return (
        random.choice((third, fifth))
        if turn % 2
        else _inside(fifth if random.random() < 0.7 else root + 12, instrument)
    )


def _low(pitch_class: int, instrument: Instrument) -> int:
    """Returns the lowest pitch of a class that is not too near the end of the range."""
    lowest = instrument.lowest + 3 if instrument.highest - instrument.lowest >= 15 else instrument.lowest
    return lowest + (pitch_class - lowest) % 12


def _near(pitch_class: int, pitch: int, instrument: Instrument) -> int:
    """Returns the pitch of a class nearest to another one, within the range."""
    above = pitch + (pitch_class - pitch) % 12
    return _inside(above if above - pitch <= 7 or above - 12 < instrument.lowest else above - 12, instrument)


def _inside(pitch: int, instrument: Instrument) -> int:
    while pitch > instrument.highest:
        pitch -= 12
    while pitch < instrument.lowest:
        pitch += 12
    return pitch
