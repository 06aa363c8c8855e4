"""Silence: made, and taken from the ends of a sound, so that joins neither click nor stumble."""

from __future__ import annotations

import numpy as np

from .samples import Samples

_QUIET = 0.01
"""The level below which there is no speech: -40 dB."""
_BEFORE, _AFTER = 0.02, 0.05
"""Seconds that are kept beside the speech."""
_FADE = 0.005


def silence(seconds: float, rate: int) -> Samples:
    """Returns silence."""
    return np.zeros(max(0, round(seconds * rate)), dtype=np.float32)


def trimmed(sound: Samples, rate: int) -> Samples:
    """Returns a sound without the silence at its ends, which begins and ends at zero."""
    loud = np.flatnonzero(np.abs(sound) > _QUIET)
    if not len(loud):
        return sound[:0]
    first = max(0, int(loud[0]) - round(_BEFORE * rate))
    last = min(len(sound), int(loud[-1]) + 1 + round(_AFTER * rate))
    kept = sound[first:last].copy()
    fade = min(round(_FADE * rate), len(kept) // 2)
    if fade:
        ramp = np.linspace(0, 1, fade, dtype=np.float32)
        kept[:fade] *= ramp
        kept[-fade:] *= ramp[::-1]
    return kept
