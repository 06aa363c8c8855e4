"""`Mixer`: two channels as one, without losing what they cancel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CANCELLED = -0.5
"""Twice the product of both channels, in relation to their energy: the sum has less than half of that of two voices."""
_FADES = 100
"""A change of sign takes this part of a second."""
_BYTES = 4
"""Of a sample of 16 bits for each channel."""


class Mixer:
    """Mixes two channels of 16 bits to one, second by second: their sum, or their difference where the sum cancels.

    A call with a voice on each channel has both in either of them. One channel of a pair is often inverted, by wrong
    wiring or a microphone in front and one behind; their sum is then silent. The sign changes only if the energy of
    the present mix is less than half of what two independent channels would have, so it stays for a recording.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._sign = 1.0
        self._waiting = bytearray()

    def mixed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yields the mixed seconds of pieces; what is left of one waits for `rest` or for further pieces."""
        second = self._rate * _BYTES
        for piece in pieces:
            self._waiting += piece
            while len(self._waiting) >= second:
                yield self._one(bytes(self._waiting[:second]))
                del self._waiting[:second]

    def rest(self) -> bytes:
        """Returns the mix of what is left, less than a second."""
        left = bytes(self._waiting)
        self._waiting.clear()
        return self._one(left) if left else b""

    def _one(self, samples: bytes) -> bytes:
        import numpy as np

        pair = np.frombuffer(samples, "<i2").reshape(-1, 2).astype(np.float32)
        first, second = pair[:, 0], pair[:, 1]
        weights = self._weights(first, second)
        return np.rint((first + weights * second) / 2).clip(-32768, 32767).astype("<i2").tobytes()

    def _weights(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the factor of the second channel for each sample."""
        import numpy as np

        energy = float(first @ first + second @ second)
        weights = np.full(len(first), self._sign, np.float32)
        if energy and 2 * self._sign * float(first @ second) / energy < _CANCELLED:
            fade = min(len(first), self._rate // _FADES)
            weights[:] = -self._sign
            weights[:fade] = np.linspace(self._sign, -self._sign, fade, dtype=np.float32)
            self._sign = -self._sign
        return weights
