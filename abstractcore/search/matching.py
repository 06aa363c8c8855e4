"""`VectorMatrix`: exact nearest vectors, by NumPy, of the vectors in an index. `fused`: several rankings as one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..errors import MissingExtraError
from ..schema import Vectors, install_hint

if TYPE_CHECKING:
    from .store import IndexFile

_RANK_CONSTANT: Final = 60
"""Of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009): the larger, the less first places count."""
_GROWTH: Final = 1.25


def numpy() -> Any:
    """Returns NumPy; raises `MissingExtraError` without it."""
    try:
        import numpy
    except ImportError:
        hint = install_hint("numpy", extra="embed")
        raise MissingExtraError("An index requires numpy, which is not installed.", hint=hint) from None
    return numpy


class VectorMatrix:
    """The vectors of an index in memory: those that were added or removed since the last search are read or dropped
    before the next one. Threads may share it.
    """

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._revision: int | None = None
        self._numbers: Any = None
        self._rows: Any = None
        self._used = 0

    def nearest(self, vector: Vectors, most: int, among: Sequence[int] | None) -> list[tuple[int, float]]:
        """Returns the numbers of up to `most` chunks with the largest inner product, and that product."""
        np = numpy()
        with self._lock:
            self._refresh(np)
            if not self._used or self._rows.shape[1] != vector.dimensions:  # all were removed, or embedded anew
                return []
            numbers, rows = self._numbers[: self._used], self._rows[: self._used]
        if among is not None:
            chosen = np.flatnonzero(np.isin(numbers, np.asarray(among, dtype=np.int64), assume_unique=True))
            numbers, rows = numbers[chosen], rows[chosen]
        if not len(numbers):
            return []
        scores = rows @ np.frombuffer(vector.data, dtype="<f4")
        count = min(most, len(scores))
        best = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
        best = best[np.lexsort((numbers[best], -scores[best]))]  # equal scores in order, so that results are stable
        return [(int(numbers[place]), float(scores[place])) for place in best]

    def _refresh(self, np: Any) -> None:
        revision = self._file.revision()
        if revision == self._revision:
            return
        last = int(self._numbers[self._used - 1]) if self._used else 0
        kept = self._kept(np)
        added = self._file.vectors(last)
        needed = len(kept) + len(added)
        if not len(kept):
            self._rows = None
            dimensions = len(added[0][1]) // 4 if added else 0
        else:
            dimensions = self._rows.shape[1]
        if self._rows is None or needed > len(self._rows) or len(kept) < self._used:
            space = int(needed * _GROWTH) + 1
            rows, numbers = np.empty((space, dimensions), np.float32), np.empty(space, np.int64)
            if len(kept):
                np.take(self._rows, kept, axis=0, out=rows[: len(kept)])
                np.take(self._numbers, kept, out=numbers[: len(kept)])
            self._rows, self._numbers = rows, numbers
        if added:
            data = np.frombuffer(b"".join(vector for _, vector in added), dtype="<f4")
            self._rows[len(kept) : needed] = data.reshape(len(added), dimensions)
            self._numbers[len(kept) : needed] = [number for number, _ in added]
        self._used, self._revision = needed, revision

    def _kept(self, np: Any) -> Any:
        """Returns the places of the vectors that were not removed."""
        if not self._used:
            return np.empty(0, np.int64)
        there = np.asarray(self._file.numbers(), dtype=np.int64)
        return np.flatnonzero(np.isin(self._numbers[: self._used], there, assume_unique=True))


def fused(rankings: Iterable[Sequence[int]], most: int) -> list[tuple[int, float]]:
    """Returns the best numbers of several rankings as one, with scores from 0 to 1: 1 is the first place in all."""
    listed = list(rankings)
    scores: dict[int, float] = {}
    for ranking in listed:
        for rank, number in enumerate(ranking):
            scores[number] = scores.get(number, 0.0) + (_RANK_CONSTANT + 1) / (_RANK_CONSTANT + 1 + rank)
    ordered = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return [(number, score / len(listed)) for number, score in ordered[:most]]
