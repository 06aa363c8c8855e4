"""`Peaks`: how loud a recording is from second to second, and where nobody speaks."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from math import ceil
from typing import TYPE_CHECKING

from abstractcore.schema import DroppedSpan

from .sound import SAMPLE_RATE

if TYPE_CHECKING:
    from .pauses import Samples

_SILENCE = 0.001
"""The highest sample of silence: -60 dB."""


class Peaks:
    """The highest sample of each second of a recording, and its gaps between speech."""

    def __init__(self) -> None:
        self._peaks: list[float] = []
        self._size = 0

    def of(self, blocks: Iterable[Samples]) -> Generator[Samples]:
        """Yields the blocks of a recording, and notes their peaks."""
        for block in blocks:
            position = 0
            while position < len(block):
                second, used = divmod(self._size, SAMPLE_RATE)
                piece = block[position : position + SAMPLE_RATE - used]
                if second == len(self._peaks):
                    self._peaks.append(0.0)
                self._peaks[second] = max(self._peaks[second], float(abs(piece).max()))
                position += len(piece)
                self._size += len(piece)
            yield block

    def gaps(self, covered: Iterable[tuple[float, float]]) -> list[DroppedSpan]:
        """Returns the parts between those that are `covered`, each given by its start and end in seconds."""
        gaps: list[DroppedSpan] = []
        position = 0.0
        end = self._size / SAMPLE_RATE
        for start, stop in (*sorted(covered), (end, end)):
            if start > position:
                gaps.append(self._gap(position, start))
            position = max(position, stop)
        return gaps

    def _gap(self, start: float, end: float) -> DroppedSpan:
        first = ceil(start)
        is_silent = all(peak < _SILENCE for peak in self._peaks[first : max(int(end), first + 1)])
        return DroppedSpan(start, end, "silence" if is_silent else "no speech")
