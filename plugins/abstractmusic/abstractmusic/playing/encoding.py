"""`encoded`: samples as a WAV, FLAC, MP3 or Opus file; WAV by the standard library, the others by PyAV."""

from __future__ import annotations

import io
import wave
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from abstractcore import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AUDIO_TYPES = {"wav": "audio/wav", "flac": "audio/flac", "mp3": "audio/mpeg", "opus": "audio/ogg"}
"""Media types by format."""
_CODECS = {"flac": ("flac", "flac", 0), "mp3": ("mp3", "libmp3lame", 192_000), "opus": ("ogg", "libopus", 128_000)}
"""Container, codec and bits a second."""
_OPTIONS = {"mp3": {"compression_level": "7"}}
"""LAME at this level takes a third of the time of its usual one."""
_BLOCK = 1 << 16
_FULL = 32767


def encoded(samples: NDArray[np.float32], rate: int, format: str) -> bytes:
    """Returns stereo samples between -1 and 1 as a file. Raises `InvalidInputError` for other formats."""
    import numpy as np

    if format not in AUDIO_TYPES:
        raise InvalidInputError(
            f"no format is called {format[:40]!r}", path="format", hint=f"Formats: {', '.join(AUDIO_TYPES)}."
        )
    whole = np.clip(np.rint(samples * _FULL), -_FULL, _FULL).astype("<i2")
    return _wav(whole, rate) if format == "wav" else _by_codec(whole, rate, format)


def _wav(samples: NDArray[np.int16], rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(2)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(samples.T.tobytes())
    return file.getvalue()


def _by_codec(samples: NDArray[np.int16], rate: int, format: str) -> bytes:
    import av
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.audio.resampler import AudioResampler

    container_format, codec, bits = _CODECS[format]
    file, rate_out = io.BytesIO(), 48000 if format == "opus" else rate
    container: Any
    with av.open(file, "w", format=container_format) as container:
        stream: Any = container.add_stream(codec, rate=rate_out, layout="stereo", options=_OPTIONS.get(format, {}))
        if bits:
            stream.bit_rate = bits
        resampler = AudioResampler(stream.format, "stereo", rate_out)
        for start in range(0, samples.shape[1], _BLOCK):
            block = np.ascontiguousarray(samples[:, start : start + _BLOCK].T).reshape(1, -1)
            frame = AudioFrame.from_ndarray(block, format="s16", layout="stereo")
            frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
            for resampled in resampler.resample(frame):
                container.mux(stream.encode(resampled))
        for resampled in resampler.resample(None):
            container.mux(stream.encode(resampled))
        container.mux(stream.encode(None))
    return file.getvalue()
