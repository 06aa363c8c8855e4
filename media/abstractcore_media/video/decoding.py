"""Decodes the frames of a video that are shown, as a generator function that can run in a process of its own."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import astuple
from itertools import islice
from typing import TYPE_CHECKING, Any

from abstractcore.errors import CorruptFileError
from abstractcore.schema import MediaPart

from ..common.content import check_unchanged, source_of
from ..common.extras import missing_module
from ..common.stopping import StopCheck
from .reader import Frame, VideoInfo, VideoReader
from .selection import FrameChoice, choose_frames

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .handler import VideoHandler

_MAX_SECONDS = 600.0
"""The limit for one step, such as a pass over a long video."""
_MAX_THREADS = 8
"""Each holds frames, and the memory of the process is limited."""


class DecodedVideo:
    """What a video contains, and the frames that are chosen of it, up to `count`. Close it.

    Raises `MediaError` if it cannot be decoded, or has changed.
    """

    def __init__(self, part: MediaPart, context: MediaContext, handler: VideoHandler, count: int) -> None:
        check_unchanged(part)
        threads = min(context.spare_cores, _MAX_THREADS)
        limits = handler.max_side, handler.max_pixels, threads, context.timeout
        self._source, self._count, self._max_side = source_of(part), count, handler.max_side
        self._values = context.isolated(self._source, _MAX_SECONDS, decoded_video, part, count, *limits)
        self.info = VideoInfo(*next(self._values))

    def choice(self) -> FrameChoice:
        """Returns the frames, in order of time, and what they do not show; raises `MediaError` if there are none."""
        missed, *about = next(self._values)
        frames = [self._frame(*values) for values in islice(self._values, self._count)]
        return FrameChoice(tuple(frames), tuple(missed), *about)

    def _frame(self, time: float, sharpness: float, width: int, height: int, pixels: bytes) -> Frame:
        try:
            from PIL import Image
        except ImportError as error:
            raise missing_module(error, "Reading videos", "video") from error
        if max(width, height) > self._max_side:  # the process may be hostile: frames are kept in memory
            raise CorruptFileError(
                f"{self._source} cannot be read: its decoder sent a larger frame than it may.", source=self._source
            )
        return Frame(time, Image.frombytes("RGB", (width, height), pixels), sharpness)

    def close(self) -> None:
        """Ends decoding."""
        self._values.close()


def decoded_video(
    part: MediaPart, count: int, max_side: int, max_pixels: int, threads: int, timeout: float | None
) -> Generator[tuple[Any, ...], Any, None]:
    """Yields the fields of `VideoInfo`, then those of `FrameChoice` without frames, then of each frame its time,
    sharpness, width, height and RGB pixels.
    """
    source = source_of(part)
    check_stop = StopCheck(source, timeout)
    reader = VideoReader(part, max_side=max_side, max_pixels=max_pixels, threads=threads, check_stop=check_stop)
    info = reader.info()
    yield astuple(info)
    choice = choose_frames(reader, info.seconds, count, part.controls, source)
    yield choice.missed, choice.states, choice.missing, choice.has_end, choice.unseen
    for each in choice.frames:
        yield each.time, each.sharpness, *each.image.size, each.image.tobytes()
