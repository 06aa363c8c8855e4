"""`Samples`: sound of one channel, as numbers from -1 to 1."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Samples: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]


def as_pcm(samples: Samples) -> bytes:
    """Returns samples as signed 16-bit numbers, little endian."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()
