"""Long recordings made of speech and pauses, and where pieces of them are: every sample has its own surroundings."""

from __future__ import annotations

import io
import random
import wave
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstractcore.schema import AudioPart, Blob
from abstractcore_media.audio.sound import SAMPLE_RATE, SoundReader
from tests.media.parts import EXAMPLES, sound

_NEEDLE = 64
"""So many samples are found at one place only, by their noise."""


@dataclass(frozen=True)
class Recording:
    """Samples of 16 bits; `speech` are first and last sample of each sentence in them."""

    samples: Any
    speech: tuple[tuple[int, int], ...]

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE

    @property
    def part(self) -> AudioPart:
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
            file.writeframes(self.samples.astype("<i2").tobytes())
        return AudioPart(Blob.from_bytes(out.getvalue(), "audio/wav", name="long.wav"))

    def runs(self, heard: Any) -> list[tuple[int, int]]:
        """First and last sample, in the recording, of each run of samples that were heard, in the order of hearing.

        Raises `AssertionError` for samples that are not in the recording.
        """
        data, found, position = self.samples.tobytes(), [], 0
        while position < len(heard):
            needle = heard[position : position + _NEEDLE].tobytes()
            at = data.find(needle)
            while at % 2 and at >= 0:
                at = data.find(needle, at + 1)
            assert at >= 0, f"sample {position} of {len(heard)} is not in the recording"
            start = at // 2
            most = min(len(heard) - position, len(self.samples) - start)
            same = heard[position : position + most] == self.samples[start : start + most]
            length = most if same.all() else int(np.argmin(same))
            found.append((start, start + length))
            position += length
        return found


def recording(seconds: float, *, longest_pause: float) -> Recording:
    """The sentences of meeting.wav again and again, with pauses of one to so many seconds in between, 0 for none."""
    chance, noise = random.Random(13), np.random.default_rng(7)
    clip = (np.concatenate(list(SoundReader(sound(EXAMPLES / "meeting.wav"), 60).blocks())) * 32768).astype(np.int16)
    pieces: list[Any] = []
    speech: list[tuple[int, int]] = []
    size = 0
    while size < seconds * SAMPLE_RATE:
        speech.append((size, size + len(clip)))
        pause = int(chance.uniform(1.0, longest_pause) * SAMPLE_RATE) if longest_pause else 0
        pieces += [clip, np.zeros(pause, np.int16)]
        size += len(clip) + pause
    samples = np.concatenate(pieces)
    # Repeated sentences differ by noise of -80 dB, as do the parts of a pause.
    samples = np.clip(samples.astype(int) + noise.integers(-3, 4, len(samples)), -32768, 32767).astype(np.int16)
    return Recording(samples, tuple(speech))
