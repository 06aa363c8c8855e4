"""Chooses times in a video: where scenes begin or the picture changes, and evenly where it moves. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .changes import PictureChange

_CUT = 0.3
"""The threshold that ffmpeg's documentation names for its scene filter, whose formula this is."""
_KEYFRAME_CUT = 0.12
_NEAR = 0.5
_LONG = 0.75
_HUNDRED = 2.55
"""The filter's score is in hundredths of brightness, of which there are 255."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A frame that was looked at: its time in seconds, how much it differs from the one before, from 0 to 1, and its
    sharpness.
    """

    time: float
    difference: float
    sharpness: float = 0.0


def cuts(candidates: Sequence[Candidate], *, only_keyframes: bool) -> list[tuple[float, float]]:
    """Returns the frames that begin a scene, by how sure that is, and their times; the first frame is none of them.

    Between keyframes much changes also without a cut, so what differs most is taken.
    """
    scored: list[tuple[float, float]] = []
    before = 0.0
    for each in candidates[1:]:
        if only_keyframes:
            score, threshold = each.difference, _KEYFRAME_CUT
        else:  # a cut is a sudden change, not a large one among large ones
            score, threshold = min(each.difference, abs(each.difference - before)) * _HUNDRED, _CUT
        before = each.difference
        if score >= threshold:
            scored.append((score, each.time))
    return scored


def states(
    cuts: Sequence[tuple[float, float]], changes: Sequence[PictureChange], only_keyframes: bool
) -> list[tuple[float, float]]:
    """Returns what begins a new state of the picture, by importance, and its time: cuts first, then changes by their
    share of the picture.

    A cut has a sudden change beside it, and is more exact. A transition that goes on after it ends in another state.
    """
    found = [(1 + score, time) for score, time in cuts]
    for change in changes:
        nearest = min((change.time - time for _, time in cuts if change.begin < time <= change.time), default=None)
        if nearest is None or (nearest > _LONG and change.is_transition and not only_keyframes):
            found.append((change.share, change.time))
    return sorted(found, reverse=True)


def even_times(start: float, end: float, count: int) -> list[float]:
    """Returns `count` times: the middles of equal parts."""
    return [start + (end - start) * (2 * n + 1) / (2 * count) for n in range(count)]


def spread(
    times: Sequence[float],
    end: float,
    count: int,
    min_gap: float,
    moves: Callable[[float, float], bool] = lambda start, end: True,
) -> list[float]:
    """Returns `times` with further ones, up to `count`, in the middle of the widest gaps in which the picture `moves`,
    none below `min_gap`.
    """
    chosen = sorted(times)
    while chosen and len(chosen) < count:
        gaps = [(after - time, time) for time, after in zip(chosen, [*chosen[1:], end], strict=True)]
        wide = sorted((each for each in gaps if each[0] >= 2 * min_gap), reverse=True)
        gap, time = next(((gap, time) for gap, time in wide if moves(time, time + gap)), (0.0, 0.0))
        if not gap:
            break
        chosen = sorted([*chosen, time + gap / 2])
    return chosen


def sharpest(candidates: Sequence[Candidate], times: Sequence[float]) -> list[float]:
    """Returns, for each time, that of the sharpest frame in the half second from it on, before the next time."""
    chosen: list[float] = []
    for time, after in zip(times, [*times[1:], float("inf")], strict=True):
        near = [each for each in candidates if time <= each.time < min(after, time + _NEAR)]
        chosen.append(max(near, key=lambda each: each.sharpness).time if near else time)
    return chosen
