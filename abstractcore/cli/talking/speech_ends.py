"""`SpeechEnds`: where an utterance begins and ends in sound that arrives in blocks, by its loudness."""

from __future__ import annotations

import array
import math
import sys
from collections import deque

RATE = 16_000
"""Samples a second, of 16 bits, little endian."""
BLOCK = 480
"""Samples of a block: 30 ms."""
_BLOCKS_A_SECOND = RATE / BLOCK
_QUIETEST = 150.0
"""A level below which nothing counts as speech: -47 dB."""
_LOUDER = 3.0
"""How much louder than the noise speech is."""
_BEGINS, _OF = 4, 6
"""Speech begins with so many loud blocks of the latest ones."""
_BEFORE = 10
"""Blocks before the beginning that belong to the utterance: quiet consonants."""
_LONGEST = round(60 * _BLOCKS_A_SECOND)


class SpeechEnds:
    """Finds utterances: each ends after `pause` seconds of silence, or after a minute. It learns the level of noise."""

    def __init__(self, pause: float = 0.8) -> None:
        self._pause = max(1, round(pause * _BLOCKS_A_SECOND))
        self._noise: float | None = None
        self._recent: deque[bool] = deque(maxlen=_OF)
        self._before: deque[bytes] = deque(maxlen=_BEFORE)
        self._said: list[bytes] = []
        self._silent = 0

    @property
    def speaks(self) -> bool:
        """Whether an utterance has begun."""
        return bool(self._said)

    def feed(self, block: bytes) -> bytes | None:
        """Returns the samples of the utterance that ends with this block."""
        level = _level(block)
        loud = level > max(_QUIETEST, _LOUDER * (level if self._noise is None else self._noise))
        self._recent.append(loud)
        if not self._said:
            self._learn(level)
            self._before.append(block)
            if sum(self._recent) >= _BEGINS:
                self._said, self._silent = [*self._before], 0
            return None
        self._said.append(block)
        self._silent = 0 if loud else self._silent + 1
        if self._silent < self._pause and len(self._said) < _LONGEST:
            return None
        return self.finish()

    def finish(self) -> bytes | None:
        """Returns the sound since the utterance began; None without one."""
        said, self._said = b"".join(self._said), []
        self._recent.clear()
        self._before.clear()
        return said or None

    def _learn(self, level: float) -> None:
        """The level of noise follows quieter blocks soon, and louder ones slowly: they may be speech."""
        if self._noise is None:
            self._noise = level
        else:
            self._noise += (0.3 if level < self._noise else 0.02) * (level - self._noise)


def _level(block: bytes) -> float:
    """Returns the root mean square of samples."""
    samples = array.array("h", block[: len(block) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    return math.sqrt(sum(value * value for value in samples) / len(samples)) if samples else 0.0
