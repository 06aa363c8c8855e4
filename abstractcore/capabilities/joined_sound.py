"""`one_part`: the parts of streamed speech as one file."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Sequence

from ..errors import InvalidInputError
from ..schema import AudioPart, Blob

_PCM = re.compile(r"audio/pcm;rate=(\d+);channels=(\d+)")
_SAMPLE_BYTES = 2


def one_part(parts: Sequence[AudioPart]) -> AudioPart:
    """Returns the parts of one stream as one file, with all that is said; samples as WAV.

    Raises `InvalidInputError` without any part.
    """
    if not parts:
        raise InvalidInputError("there is no speech: the text has nothing to say", path="text")
    media_type = parts[0].blob.media_type
    data = b"".join(part.blob.read() for part in parts)
    found = _PCM.fullmatch(media_type)
    if found is not None:
        data, media_type = as_wav(data, int(found[1]), int(found[2])), "audio/wav"
    said = " ".join(part.transcript for part in parts if part.transcript)
    return AudioPart(Blob.from_bytes(data, media_type), transcript=said or None)


def as_wav(samples: bytes, rate: int, channels: int) -> bytes:
    """Returns samples of 16 bits as a WAV file."""
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setparams((channels, _SAMPLE_BYTES, rate, 0, "NONE", "not compressed"))
        file.writeframes(samples)
    return sink.getvalue()
