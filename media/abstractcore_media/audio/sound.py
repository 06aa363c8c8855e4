"""Decodes audio of any format to samples for speech recognition, with PyAV, which bundles FFmpeg."""

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
"""Samples per second, mono."""
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples from -1 to 1, their duration, and the duration in the file's header (0 if none), both in seconds."""

    samples: NDArray[np.float32]
    seconds: float
    announced: float


def decode_sound(data: bytes, source: str, max_seconds: float) -> Sound:
    """Returns the first audio track of `data`; raises `MediaError` if it is missing, corrupt, empty or too long.

    Corrupt packets are skipped; the two durations show how much is missing.
    """
    try:
        import av
        import numpy as np
        from av.error import FFmpegError
    except ImportError as error:
        raise missing_extra("Transcribing audio", "faster-whisper", "audio") from error
    pieces: list[NDArray[np.int16]] = []
    count = 0
    try:
        with av.open(io.BytesIO(data), mode="r", metadata_errors="ignore") as container:
            announced = (container.duration or 0) / _MICROSECONDS
            if not container.streams.audio:
                raise MediaError(f"{source} has no audio track.", source=source)
            resampler = av.AudioResampler("s16", "mono", SAMPLE_RATE)
            for frame in _frames(container):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().reshape(-1).astype(np.int16, copy=False))
                    count += piece.samples
                if count > max_seconds * SAMPLE_RATE:
                    raise _too_long(source, max_seconds)
    except (FFmpegError, ValueError) as error:
        raise MediaError(
            f"{source} cannot be decoded: it is corrupt, or not an audio file.",
            source=source,
            hint="If a player can play it, make a clean copy: ffmpeg -i broken.wav clean.wav",
        ) from error
    if not count:
        raise MediaError(f"{source} has no audio: its length is 0 seconds.", source=source)
    return Sound(np.concatenate(pieces).astype(np.float32) / 32768.0, count / SAMPLE_RATE, announced)


def _frames(container: InputContainer) -> Iterator[AudioFrame | None]:
    """Yields the frames that can be decoded, and None at the end, which flushes the resampler."""
    from av.error import InvalidDataError

    for packet in container.demux(container.streams.audio[0]):
        try:
            frames = packet.decode()
        except InvalidDataError:
            continue
        for frame in frames:
            frame.pts = None  # timestamps of corrupt files go backwards
            yield frame
    yield None


def _too_long(source: str, max_seconds: float) -> MediaError:
    return MediaError(
        f"{source} is longer than {max_seconds / 60:g} minutes.",
        source=source,
        hint="Split it: ffmpeg -i long.wav -f segment -segment_time 3600 part%d.wav",
    )
