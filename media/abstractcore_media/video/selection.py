"""Chooses frames of a video within a number: where scenes begin, and evenly between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.schema import MediaControls

from .reader import Frame, VideoReader
from .sampling import even_times, scene_starts, sharpest, spread
from .sheets import PER_SHEET

_MIN_GAP = 1.0
"""Seconds between frames that are not at a cut."""
_TOLERANCE = 0.25
"""Of the distance between frames: a keyframe this much before a time is taken for it, since it is quick to decode."""


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """How many frames a model gets at most, and whether as contact sheets."""

    count: int
    sheets: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any], count: int) -> FrameOptions:
        """Returns the options whose names begin with `video_`; `count` is the default. Raises `InvalidInputError`."""
        given = options.get("video_frames", count)
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise InvalidInputError(f"expected a number of frames, from 1, got {given!r}", path="video_frames")
        sheets = options.get("video_contact_sheets", False)
        if not isinstance(sheets, bool):
            raise InvalidInputError(f"expected True or False, got {sheets!r}", path="video_contact_sheets")
        return cls(given, sheets)

    def within(self, max_images: int | None) -> FrameOptions:
        """Returns the options for at most so many images."""
        if max_images is None:
            return self
        return FrameOptions(min(self.count, max_images * (PER_SHEET if self.sheets else 1)), self.sheets)


def choose_frames(
    reader: VideoReader, seconds: float, count: int, controls: MediaControls | None, source: str
) -> list[Frame]:
    """Returns up to `count` frames of a video, in order. `seconds` is its duration; 0 if it is not known.

    With the control `fps`, they are as far apart as it says, or farther if there were too many.
    """
    controls = controls or MediaControls()
    start, end = controls.start or 0.0, controls.end
    if seconds:
        end = min(seconds, end) if end is not None else seconds
        if start >= end:
            raise MediaError(f"{source} ends at {seconds:.1f} seconds, before the start {start:g}.", source=source)
    if controls.fps is not None and end is not None:
        wanted = min(count, max(1, round((end - start) * controls.fps)))
        times = even_times(start, end, wanted)
        return reader.frames_at(times, _TOLERANCE / controls.fps)
    candidates, only_keyframes = reader.candidates(start, end if end is not None else float("inf"))
    if not candidates:
        raise MediaError(
            f"{source} has no frames that can be decoded.",
            source=source,
            hint="If a player can play it, make a clean copy: ffmpeg -i broken.mp4 clean.mp4",
        )
    end = max(candidates[-1].time, end or 0.0)
    scenes = scene_starts(candidates, count, only_keyframes=only_keyframes)
    times = spread(scenes, end, count, _MIN_GAP)
    if only_keyframes:
        return reader.frames_at(times, _TOLERANCE * (end - start) / count)
    return reader.frames_at(sharpest(candidates, times), 0.0)
