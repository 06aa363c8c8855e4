"""Finds what changes in a picture and then stays, such as a slide or a word on it, beside what always moves. Pure.

A picture is looked at twice a second, or at each keyframe of a long video, in cells. What a cell usually changes from
look to look is motion; what is more than that is a change. So a speaker in a corner does not hide a new slide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROWS, COLUMNS = 12, 16
"""The cells of a picture."""
SAMPLES = 230_000
"""About as many pixels of a picture are compared, so that a digit on a slide has some of them."""
_LEVELS = 32
"""A sample has changed if its brightness differs by more than noise and compression make of it."""
_SMALLEST_SHARE, _FEWEST_SAMPLES = 5e-5, 8
_USUAL = 4
"""How many times the usual change of a cell, and of the whole picture, is a change."""
_AROUND = 10
"""Looks before and after that say what is usual."""
_SOON = 1.0
"""Looks nearer than this that all differ are one change: a transition, of which the end is shown."""
_LONGEST_TRANSITION = 3.0
_STILL = 0.005
"""A smaller mean share of the picture moves where nobody would look twice."""


@dataclass(frozen=True, slots=True)
class Look:
    """A picture that was looked at: its time, and for each cell the share of the picture that differs from the look
    before. `is_still` says that nothing moved since then, so that every difference is a change.
    """

    time: float
    cells: NDArray[np.float32]
    is_still: bool = False


@dataclass(frozen=True, slots=True)
class PictureChange:
    """A change that stays, seen at `time`; the look before it was at `begin`. `share` is that of the picture."""

    begin: float
    time: float
    share: float
    is_transition: bool = False


def samples_of(brightness: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns evenly spaced pixels of a picture, to be compared with those of the same places in others."""
    height, width = brightness.shape
    step = max(1, round((height * width / SAMPLES) ** 0.5))
    return brightness[::step, ::step].copy()


def changed_cells(before: NDArray[np.uint8] | None, now: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Returns, for each cell, the share of all samples that have changed in it."""
    import numpy as np

    if before is None or before.shape != now.shape:
        return np.full(ROWS * COLUMNS, 1 / (ROWS * COLUMNS), np.float32)
    differs = np.maximum(before, now) - np.minimum(before, now) > _LEVELS
    rows = [now.shape[0] * row // ROWS for row in range(ROWS)]
    columns = [now.shape[1] * column // COLUMNS for column in range(COLUMNS)]
    counts = np.add.reduceat(np.add.reduceat(differs, rows, axis=0, dtype=np.int32), columns, axis=1)
    least = max(_SMALLEST_SHARE, _FEWEST_SAMPLES / differs.size)
    return (counts if counts.sum() >= least * differs.size else counts * 0).ravel().astype(np.float32) / np.float32(
        differs.size
    )


def picture_changes(looks: Sequence[Look]) -> list[PictureChange]:
    """Returns the changes between looks, in order of time."""
    import numpy as np

    if len(looks) < 2:
        return []
    cells = np.stack([look.cells for look in looks])
    cells[0] = 0
    excess = _excess(cells, looks)
    changes: list[PictureChange] = []
    for before, look, share in zip(looks, looks[1:], excess[1:], strict=False):
        if share <= 0:
            continue
        last = changes[-1] if changes else None
        is_next = last is not None and last.time == before.time and look.time - before.time < _SOON
        if last is not None and is_next and look.time - last.begin < _LONGEST_TRANSITION:
            changes[-1] = PictureChange(last.begin, look.time, max(last.share, float(share)), True)
        else:
            changes.append(PictureChange(before.time, look.time, float(share)))
    return changes


def _excess(cells: NDArray[np.float32], looks: Sequence[Look]) -> NDArray[np.float32]:
    """Returns, for each look, the share of the picture that differs more than usual; 0 for no more."""
    import numpy as np

    shares = np.zeros(len(looks), np.float32)
    for index, look in enumerate(looks):
        around = slice(max(0, index - _AROUND), index + _AROUND + 1)
        usual = 0.0 if look.is_still else _USUAL * np.median(cells[around], axis=0)
        shares[index] = np.maximum(cells[index] - usual, 0).sum()
    found = shares.copy()
    for index, look in enumerate(looks):
        around = slice(max(0, index - _AROUND), index + _AROUND + 1)
        if not look.is_still and shares[index] < _SMALLEST_SHARE + _USUAL * float(np.median(shares[around])):
            found[index] = 0
    return found


def moves_between(
    looks: Sequence[Look], changes: Sequence[PictureChange], ends_still: bool, start: float, end: float
) -> bool:
    """Returns whether a picture moves between two times, apart from changes after which it is still again. `ends_still`
    holds where there was no look.
    """
    skipped = [(change.begin, change.time) for change in changes]
    shares = [
        0.0 if look.is_still else float(look.cells.sum())
        for look in looks[1:]
        if start < look.time <= end and (look.is_still or not any(first < look.time <= last for first, last in skipped))
    ]
    return sum(shares) >= _STILL * len(shares) if shares else not ends_still
