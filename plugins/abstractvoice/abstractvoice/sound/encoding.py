"""`Encoder`: sound as it is made becomes a file in a format, piece by piece, by PyAV."""

from __future__ import annotations

import io
from typing import Any

from .formats import SoundFormat
from .samples import Samples, as_pcm


class Encoder:
    """Encodes samples of one channel. The pieces of `feed` and `finish`, joined, are the file.

    A file that is `whole` has its length in its header; of a stream the length is not known.
    """

    def __init__(self, format: SoundFormat, rate: int, *, whole: bool) -> None:
        self.media_type = f"audio/pcm;rate={rate};channels=1" if not format.codec else format.media_type
        self._rate = rate
        self._sink = io.BytesIO() if whole else _Pipe()
        self._container: Any = None
        if format.codec:
            import av

            self._container = av.open(self._sink, "w", format=format.container)
            self._stream: Any = self._container.add_stream(format.codec, rate=format.rate or rate, layout="mono")
            if format.bits:
                self._stream.bit_rate = format.bits
            self._resampler: Any = av.AudioResampler(self._stream.format, "mono", format.rate or rate)
            self._position = 0

    def feed(self, samples: Samples) -> bytes:
        """Returns the bytes that are complete with these samples."""
        return self.feed_pcm(as_pcm(samples))

    def feed_pcm(self, samples: bytes) -> bytes:
        """Returns the bytes that are complete with these samples, which are signed 16-bit numbers, little endian."""
        if self._container is None:
            return samples
        if samples:
            self._mux(self._frame(samples))
        return self._taken()

    def finish(self) -> bytes:
        """Returns the rest; the whole file if it is written as a whole."""
        if self._container is None:
            return b""
        self._mux(None)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._sink.getvalue() if isinstance(self._sink, io.BytesIO) else self._sink.take()

    def _frame(self, samples: bytes) -> Any:
        import numpy as np
        from av.audio.frame import AudioFrame

        values = np.frombuffer(samples, "<i2").reshape(1, -1)
        frame = AudioFrame.from_ndarray(values, format="s16", layout="mono")
        frame.sample_rate, frame.pts = self._rate, self._position
        self._position += frame.samples
        return frame

    def _mux(self, frame: Any) -> None:
        for resampled in self._resampler.resample(frame):
            self._container.mux(self._stream.encode(resampled))

    def _taken(self) -> bytes:
        return b"" if isinstance(self._sink, io.BytesIO) else self._sink.take()


class _Pipe:
    """A file to which a container is written that cannot go back."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        """Returns the bytes that were written since the last time."""
        taken, self._waiting = bytes(self._waiting), bytearray()
        return taken
