"""`melody_of`: pitches for a rhythm over chords, by the cheapest path through all pitches of the range.

What costs: distance from the contour, notes outside the chord on strong beats, leaps, repeated notes, and a leap from
or to a note outside the chord. The path is found by dynamic programming, with a little noise from the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, sin
from random import Random

from ..theory import Chord, Key

_CONTOURS: dict[str, Callable[[float], float]] = {
    "arch": lambda at: sin(pi * at),
    "rise": lambda at: at,
    "fall": lambda at: 1 - at,
    "wave": lambda at: 0.5 + 0.5 * sin(2 * pi * at),
    "valley": lambda at: 1 - sin(pi * at),
}
CONTOURS = tuple(_CONTOURS)
_LEAPS = (1.6, 0.0, 0.0, 0.7, 0.9, 1.4, 5.0, 1.6, 3.0, 3.2, 7.0, 8.0, 3.5)
"""The cost of an interval by its semitones."""
_TOO_FAR = 14.0
_NOISE = 1.4


@dataclass(frozen=True, slots=True)
class MelodyPlace:
    """Where a note of the melody is. `strength` is its beat's, `contour` the pitch that the contour asks for there.

    Only the pitch classes in `ends` may stand there, if there are any.
    """

    chord: Chord
    strength: int
    length: int
    contour: float
    ends: tuple[int, ...] = ()


def contour_pitch(name: str, at: float, lowest: int, highest: int) -> float:
    """Returns the pitch that a contour has at a share of the phrase, between two pitches."""
    return lowest + (highest - lowest) * _CONTOURS[name](at)


def melody_of(places: Sequence[MelodyPlace], key: Key, lowest: int, highest: int, random: Random) -> list[int]:
    """Returns a pitch for each place, within the range."""
    best: dict[int, tuple[float, list[int]]] = {}
    for index, place in enumerate(places):
        here = _candidates(place, key, lowest, highest)
        costs = {pitch: _own_cost(pitch, place) + random.random() * _NOISE for pitch in here}
        if index == 0:
            best = {pitch: (cost, [pitch]) for pitch, cost in costs.items()}
            continue
        best = {pitch: _cheapest(pitch, cost, best, places[index - 1], place) for pitch, cost in costs.items()}
    return min(best.values(), key=lambda path: path[0])[1] if best else []


def _candidates(place: MelodyPlace, key: Key, lowest: int, highest: int) -> list[int]:
    tones = set(place.chord.pitch_classes)
    altered = {key.spelled(tone)[0] for tone in tones - set(key.scale)}
    clashes = {tone for tone in key.scale if key.spelled(tone)[0] in altered} - tones
    allowed = set(place.ends) or (set(key.scale) - clashes) | tones
    found = [pitch for pitch in range(lowest, highest + 1) if pitch % 12 in allowed]
    return found or [pitch for pitch in range(lowest, highest + 1) if pitch % 12 in tones] or [lowest]


def _own_cost(pitch: int, place: MelodyPlace) -> float:
    cost = abs(pitch - place.contour) * 0.45
    if pitch % 12 not in place.chord.pitch_classes:
        cost += (0.4, 2.0, 3.5, 5.0)[place.strength] + 0.35 * max(place.length - 2, 0)
        if (pitch - 1) % 12 in place.chord.pitch_classes:
            cost += 1.0 + 0.3 * place.length
    return cost


def _cheapest(
    pitch: int, cost: float, best: dict[int, tuple[float, list[int]]], before: MelodyPlace, place: MelodyPlace
) -> tuple[float, list[int]]:
    def path_cost(last: int) -> float:
        return best[last][0] + _step_cost(last, pitch, before, place) + _turn_cost(best[last][1], pitch)

    last = min(best, key=path_cost)
    return path_cost(last) + cost, [*best[last][1], pitch]


def _step_cost(last: int, pitch: int, before: MelodyPlace, place: MelodyPlace) -> float:
    leap = abs(pitch - last)
    cost = _LEAPS[leap] if leap < len(_LEAPS) else _TOO_FAR
    if leap > 2:
        cost += 4.0 * (last % 12 not in before.chord.pitch_classes) + 2.5 * (
            pitch % 12 not in place.chord.pitch_classes
        )
    return cost


def _turn_cost(path: Sequence[int], pitch: int) -> float:
    """Asks for a step back after a leap of a fourth or more, and against trills on two notes."""
    if len(path) < 2:
        return 0.0
    first, second = path[-2], path[-1]
    cost = 2.0 if abs(second - first) > 4 and (pitch - second) * (second - first) > 0 else 0.0
    return cost + (1.0 if pitch == first and len(path) > 2 and path[-3] == second else 0.0)
