"""`Reverb`: reverberation by convolution with decaying noise, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SEED = 20240607
_BLOCK = 1 << 17
_BEFORE = 0.018
"""Seconds until the first reflection."""
_SOFTENING = 5
"""Samples over which the noise is averaged, which takes away its highest frequencies."""


class Reverb:
    """A room whose sound has decayed by 60 dB after `seconds`."""

    def __init__(self, rate: int, seconds: float) -> None:
        import numpy as np

        length = int(rate * seconds)
        noise = np.random.default_rng(_SEED).standard_normal((2, length + _SOFTENING - 1))
        smooth = np.stack([np.convolve(side, np.ones(_SOFTENING) / _SOFTENING, "valid") for side in noise])
        response = smooth * 10 ** (-3 * np.arange(length) / length)
        response = np.concatenate([np.zeros((2, int(rate * _BEFORE))), response], axis=1)
        self._response = response / np.sqrt((response**2).sum(axis=1, keepdims=True))

    def around(self, dry: NDArray[np.float32], wet: float) -> NDArray[np.float32]:
        """Returns the sound with its reverberation, which has `wet` of its energy, cut to the same length."""
        import numpy as np

        size = _BLOCK
        while size < 2 * self._response.shape[1]:
            size *= 2
        step = size - self._response.shape[1] + 1
        spectrum = np.fft.rfft(self._response, size)
        length = dry.shape[1]
        reverberation = np.zeros((2, length + size), np.float32)
        for start in range(0, length, step):
            block = np.fft.rfft(dry[:, start : start + step], size)
            reverberation[:, start : start + size] += np.fft.irfft(block * spectrum, size).astype(np.float32)
        return (dry + wet * reverberation[:, :length]).astype(np.float32)
