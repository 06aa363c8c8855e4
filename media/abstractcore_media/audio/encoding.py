"""Encodes samples as WAV, by the standard library, or as MP3 or FLAC, by PyAV."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .sound import SampleFormat

WAV, MP3, FLAC = "audio/wav", "audio/mpeg", "audio/flac"
_CODECS = {MP3: ("mp3", "libmp3lame"), FLAC: ("flac", "flac")}
"""The format of the file, and the encoder."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a recording becomes. `bits_per_second` are those of its media type."""

    media_type: str
    form: SampleFormat
    max_bytes: int
    bits_per_second: int

    @property
    def max_seconds(self) -> float:
        """How long it may be."""
        return self.max_bytes * 8 / self.bits_per_second


def written(blocks: Iterable[bytes], target: Target) -> bytes | None:
    """Returns the recording; None if it is larger than the target may be."""
    return (_as_wav if target.media_type == WAV else _encoded)(blocks, target)


def _as_wav(blocks: Iterable[bytes], target: Target) -> bytes | None:
    samples = bytearray()
    for block in blocks:
        samples += block
        if len(samples) > target.max_bytes:
            return None
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(target.form.channels)
        writer.setsampwidth(2)
        writer.setframerate(target.form.rate)
        writer.writeframes(samples)
    return file.getvalue()


def _encoded(blocks: Iterable[bytes], target: Target) -> bytes | None:
    import av
    import numpy as np
    from av.audio.frame import AudioFrame

    form, file, position = target.form, io.BytesIO(), 0
    layout = "mono" if form.channels == 1 else "stereo"
    container: Any
    format, codec = _CODECS[target.media_type]
    with av.open(file, "w", format=format) as container:
        stream = container.add_stream(codec, rate=form.rate, layout=layout)
        if target.media_type == MP3:
            stream.bit_rate = target.bits_per_second
        for block in blocks:
            if not block:
                continue
            frame = AudioFrame.from_ndarray(np.frombuffer(block, "<i2").reshape(1, -1), format="s16", layout=layout)
            frame.sample_rate, frame.pts = form.rate, position
            position += frame.samples
            container.mux(stream.encode(frame))
            if file.tell() > target.max_bytes:
                return None
        container.mux(stream.encode(None))
    return file.getvalue()
