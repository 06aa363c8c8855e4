"""Sound in any format to samples as speech recognition wants them, through PyAV, which carries FFmpeg with it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError

from ..common.extras import missing_extra

if TYPE_CHECKING:
    import numpy as np
    from av.audio.frame import AudioFrame
    from av.container.input import InputContainer
    from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Samples a second, of one channel."""
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples from -1 to 1, their length and the length the file announces (0 if it says nothing), both in seconds."""

    samples: NDArray[np.float32]
    seconds: float
    announced: float


def decode_sound(data: bytes, source: str, max_seconds: float) -> Sound:
    """The first sound track of `data`; raises `MediaError` if there is none, or it is broken, empty or too long.

    Damaged pieces are left out; what is missing shows in the two lengths.
    """
    try:
        import av
        import numpy as np
        from av.error import FFmpegError
    except ImportError as error:
        raise missing_extra("Transcribing sound", "faster-whisper", "audio") from error
    pieces: list[NDArray[np.int16]] = []
    count = 0
    try:
        with av.open(io.BytesIO(data), mode="r", metadata_errors="ignore") as container:
            announced = (container.duration or 0) / _MICROSECONDS
            if not container.streams.audio:
                raise MediaError(f"{source} has no sound track.", source=source)
            resampler = av.AudioResampler("s16", "mono", SAMPLE_RATE)
            for frame in _frames(container):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().reshape(-1).astype(np.int16, copy=False))
                    count += piece.samples
                if count > max_seconds * SAMPLE_RATE:
                    raise _too_long(source, max_seconds)
    except (FFmpegError, ValueError) as error:
        raise MediaError(
            f"{source} cannot be decoded: it is broken, or no sound file.",
            source=source,
            hint="If a player can play it, this makes a clean copy: ffmpeg -i broken.wav clean.wav",
        ) from error
    if not count:
        raise MediaError(f"{source} holds no sound: its length is 0 seconds.", source=source)
    return Sound(np.concatenate(pieces).astype(np.float32) / 32768.0, count / SAMPLE_RATE, announced)


def _frames(container: InputContainer) -> Iterator[AudioFrame | None]:
    """The frames that can be decoded, and None at the end, which makes the resampler give what it holds back."""
    from av.error import InvalidDataError

    for packet in container.demux(container.streams.audio[0]):
        try:
            frames = packet.decode()
        except InvalidDataError:
            continue
        for frame in frames:
            frame.pts = None  # timestamps of damaged files go backwards
            yield frame
    yield None


def _too_long(source: str, max_seconds: float) -> MediaError:
    return MediaError(
        f"{source} is longer than {max_seconds / 60:g} minutes.",
        source=source,
        hint="Cut it: ffmpeg -i long.wav -f segment -segment_time 3600 part%d.wav",
    )
