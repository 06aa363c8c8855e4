"""Chooses times in a video: where scenes begin, and evenly in the gaps between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_CUT = 0.3
"""The threshold that ffmpeg's documentation names for its scene filter, whose formula this is."""
_KEYFRAME_CUT = 0.12
_NEAR = 0.5
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


def scene_starts(candidates: Sequence[Candidate], count: int, *, only_keyframes: bool) -> list[float]:
    """Returns the times of the first frame and of up to `count` - 1 frames that begin a scene, in order.

    Between keyframes much changes also without a cut, so what differs most is taken.
    """
    if not candidates:
        return []
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
    chosen = sorted(scored, reverse=True)[: max(0, count - 1)]
    return sorted([candidates[0].time, *(time for _, time in chosen)])


def even_times(start: float, end: float, count: int) -> list[float]:
    """Returns `count` times: the middles of equal parts."""
    return [start + (end - start) * (2 * n + 1) / (2 * count) for n in range(count)]


def spread(times: Sequence[float], end: float, count: int, min_gap: float) -> list[float]:
    """Returns `times` with further ones, up to `count`, in the middle of the widest gaps, none below `min_gap`."""
    chosen = sorted(times)
    while chosen and len(chosen) < count:
        gaps = [(after - time, time) for time, after in zip(chosen, [*chosen[1:], end], strict=True)]
        gap, time = max(gaps)
        if gap < 2 * min_gap:
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
