"""`transcoded`: a sound in another format, by PyAV."""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from abstractcore import AudioPart, Blob, CorruptFileError

from .encoding import AUDIO_TYPES, encoded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FULL = 32768


def transcoded(part: AudioPart, format: str) -> AudioPart:
    """Returns a sound as stereo in `format`, one of `AUDIO_TYPES`. Raises `CorruptFileError` if it cannot be read."""
    samples, rate = decoded(part.blob.read())
    return AudioPart(Blob.from_bytes(encoded(samples, rate, format), AUDIO_TYPES[format]))


def decoded(content: bytes) -> tuple[NDArray[np.float32], int]:
    """Returns the stereo samples of a sound, of shape (2, length), between -1 and 1, and their rate a second."""
    import numpy as np

    av: Any = import_module("av")
    blocks: list[Any] = []
    try:
        with av.open(io.BytesIO(content)) as container:
            stream = container.streams.audio[0]
            rate = int(stream.rate)
            resampler = av.AudioResampler("s16", "stereo", rate)
            for frame in container.decode(stream):
                blocks += [each.to_ndarray() for each in resampler.resample(frame)]
            blocks += [each.to_ndarray() for each in resampler.resample(None)]
        samples = np.concatenate(blocks, axis=1).reshape(-1, 2).T
    except Exception as error:  # decoders of damaged files may raise any exception
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise CorruptFileError(f"the sound cannot be read: {why}", source="music") from None
    return samples.astype(np.float32) / np.float32(_FULL), rate
