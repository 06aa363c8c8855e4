"""`rhythm_of`: the rhythm of a melody, made of figures that fill a beat or two."""

from __future__ import annotations

from random import Random

from ..theory import Meter

Rhythm = tuple[int, ...]
"""Lengths of notes that follow each other, in sixteenths."""
_FIGURES: dict[int, dict[Rhythm, tuple[float, float]]] = {
    4: {(4,): (6, 2), (2, 2): (2, 6), (3, 1): (0.8, 1.5), (2, 1, 1): (0, 0.8), (1, 1, 2): (0, 0.6)},
    6: {(6,): (5, 1), (4, 2): (4, 3), (2, 2, 2): (1, 5), (2, 4): (0.5, 1), (3, 1, 2): (0.2, 1)},
    8: {(8,): (6, 0.5), (6, 2): (4, 3), (2, 4, 2): (0.6, 2), (3, 3, 2): (0.4, 1.6), (4, 4): (4, 3)},
}
"""Figures for a stretch of sixteenths, with their weights in calm and in active melodies."""


def rhythm_of(meter: Meter, activity: float, random: Random) -> Rhythm:
    """Returns the rhythm of a bar; `activity` is 0 to 1."""
    lengths: list[int] = []
    beats = list(meter.beats)
    while beats:
        together = len(beats) > 1 and beats[0] == beats[1] == 4 and random.random() < 0.45
        stretch = beats.pop(0) + (beats.pop(0) if together else 0)
        lengths += _figure(stretch, activity, random)
    return tuple(lengths)


def closing_rhythm(meter: Meter, random: Random) -> Rhythm:
    """Returns the rhythm of a bar that ends a phrase: a long note, sometimes after a shorter one."""
    first = meter.beats[0]
    if len(meter.beats) > 2 and random.random() < 0.4:
        return (first, meter.bar - first)
    return (meter.bar,)


def split_to(rhythm: Rhythm, count: int) -> Rhythm:
    """Returns a rhythm of as many notes, of the same length: long notes are divided, or short ones are joined."""
    lengths = list(rhythm)
    while len(lengths) < count and max(lengths) > 1:
        place = max(range(len(lengths)), key=lambda index: (lengths[index], -index))
        whole = lengths[place]
        half = whole // 2 if whole % 4 == 0 or whole < 4 else whole // 2 + whole // 2 % 2
        lengths[place : place + 1] = [whole - half, half] if half else [whole]
    while len(lengths) > count:
        place = min(range(len(lengths) - 1), key=lambda index: lengths[index] + lengths[index + 1])
        lengths[place : place + 2] = [lengths[place] + lengths[place + 1]]
    return tuple(lengths)


def _figure(stretch: int, activity: float, random: Random) -> Rhythm:
    figures = _FIGURES.get(stretch)
    if figures is None:
        return (stretch,)
    weights = [calm + (active - calm) * activity for calm, active in figures.values()]
    return random.choices(list(figures), weights)[0]
