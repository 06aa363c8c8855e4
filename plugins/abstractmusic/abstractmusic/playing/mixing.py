"""`sound_of`: each voice played by symusic's synthesizer, placed in a stereo room, and their sum at a safe level."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import ceil, cos, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..scores import Score, Voice
from ..scores.score import TAIL
from ..writing.midi import performed
from .encoding import encoded
from .reverb import Reverb
from .soundfonts import font_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]

RATE = 44100
"""Samples a second."""
PEAK = 0.84
"""The largest sample of a mix, 1.5 dB below full scale: encoders that lose data may add a little."""
_WET = 0.16
_FADE = 0.8
"""Seconds of the end that fade out."""


@dataclass(frozen=True, slots=True)
class Sound:
    """Stereo samples between -1 and 1, of shape (2, length): of the whole piece, and of each voice by its name."""

    mix: Samples
    stems: dict[str, Samples]

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.mix.shape[1] / RATE

    def encoded(self, format: str = "wav", stem: str | None = None) -> bytes:
        """Returns the mix, or a stem by its name, as a file: `wav`, `flac`, `mp3` or `opus`."""
        return encoded(self.mix if stem is None else self.stems[stem], RATE, format)


def sound_of(
    score: Score,
    *,
    seconds: float | None = None,
    soundfont: str | os.PathLike[str] | None = None,
    room: float = 1.2,
    stems: bool = False,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Sound:
    """Returns the sound of a score, by default until its last notes have died away.

    `soundfont` is the path of an SF2 or SF3 file other than the built-in one; `room` is the reverberation time in
    seconds. With `stems`, the sounds of the voices are kept: their sum is the mix. Raises `InvalidInputError` if the
    SoundFont cannot be read.
    """
    import numpy as np

    font = font_at(soundfont)
    seconds = score.seconds + TAIL if seconds is None else seconds
    length = ceil(seconds * RATE)
    space = Reverb(RATE, room)
    mix = np.zeros((2, length), np.float32)
    kept: dict[str, Samples] = {}
    for index, voice in enumerate(score.voices):
        progress(index, len(score.voices))
        sound = space.around(
            _placed(_dry(score, voice, font, length), voice), 0.6 * _WET if voice.part == "bass" else _WET
        )
        mix += sound
        if stems:
            kept[voice.name] = sound
    progress(len(score.voices), len(score.voices))
    gain = _gain(mix, length)
    mix *= gain
    for sound in kept.values():
        sound *= gain
    return Sound(mix, kept)


def _dry(score: Score, voice: Voice, font: Path, length: int) -> Samples:
    """Returns the samples of one voice, mono, without a room."""
    import numpy as np

    symusic = import_module("symusic")
    rendered = symusic.Synthesizer(str(font), RATE, 0).render(performed(score, [voice]), stereo=False)
    samples = np.asarray(rendered, np.float32).reshape(-1)
    dry = np.zeros(length, np.float32)
    size = min(length, samples.size)
    dry[:size] = samples[:size]
    return dry


def _placed(dry: Samples, voice: Voice) -> Samples:
    """Returns a voice between left and right, with equal power."""
    import numpy as np

    angle = (voice.played_by.pan + 1) * pi / 4
    sides = np.array([[cos(angle)], [sin(angle)]]) * voice.played_by.gain
    return (dry[np.newaxis] * sides).astype(np.float32)


def _gain(mix: Samples, length: int) -> Samples:
    """Returns the factor of each sample: the largest becomes `PEAK`, and the end fades out."""
    import numpy as np

    largest = float(np.abs(mix).max(initial=0.0))
    gain = np.full(length, PEAK / largest if largest > 0 else 1.0, np.float32)
    fade = min(int(_FADE * RATE), length)
    gain[length - fade :] *= np.cos(np.linspace(0, pi / 2, fade, dtype=np.float32)) ** 2
    return gain
