"""Decodes the frames of a video that are shown, as a generator function that can run in a process of its own."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from abstractcore.schema import MediaPart

from ..common.content import source_of
from ..common.stopping import StopCheck
from .reader import Frame, VideoInfo, VideoReader
from .selection import choose_frames

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .handler import VideoHandler

_MAX_SECONDS = 600.0
"""The limit for one step, such as a pass over a long video."""
_MAX_THREADS = 8
"""Each holds frames, and the memory of the process is limited."""


class DecodedVideo:
    """What a video contains, and the frames that are chosen of it, up to `count`. Close it.

    Raises `MediaError` if it cannot be decoded.
    """

    def __init__(self, part: MediaPart, context: MediaContext, handler: VideoHandler, count: int) -> None:
        threads = min(context.spare_cores, _MAX_THREADS)
        limits = handler.max_side, handler.max_pixels, threads, context.timeout
        self._values = context.isolated(source_of(part), _MAX_SECONDS, decoded_video, part, count, *limits)
        self.info = VideoInfo(*next(self._values))

    def frames(self) -> list[Frame]:
        """Returns the frames, in order of time; raises `MediaError` if there are none."""
        from PIL import Image

        return [
            Frame(time, Image.frombytes("RGB", (width, height), pixels), sharpness)
            for time, sharpness, width, height, pixels in self._values
        ]

    def close(self) -> None:
        """Ends decoding."""
        self._values.close()


def decoded_video(
    part: MediaPart, count: int, max_side: int, max_pixels: int, threads: int, timeout: float | None
) -> Generator[tuple[Any, ...], Any, None]:
    """Yields the fields of `VideoInfo`, then of each frame its time, sharpness, width, height and RGB pixels."""
    source = source_of(part)
    check_stop = StopCheck(source, timeout)
    reader = VideoReader(part, max_side=max_side, max_pixels=max_pixels, threads=threads, check_stop=check_stop)
    info = reader.info()
    yield astuple(info)
    for each in choose_frames(reader, info.seconds, count, part.controls, source):
        yield each.time, each.sharpness, *each.image.size, each.image.tobytes()
