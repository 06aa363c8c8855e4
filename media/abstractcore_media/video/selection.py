"""Chooses frames of a video within a number: where scenes begin or the picture changes, and evenly where it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.schema import MediaControls, MediaLoss

from ..common.times import clock
from .changes import moves_between, picture_changes
from .reader import Frame, VideoReader
from .sampling import cuts, even_times, sharpest, spread, states
from .sheets import PER_SHEET

_MAX_PLACES = 20
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


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """The frames of a video that are shown, and what is not.

    `missed` are times of changes for which there are no frames, of `states` in all. `missing` seconds could not be
    read, `unseen` seconds at the end were not looked at; `has_end` is False for a file that is cut.
    """

    frames: tuple[Frame, ...]
    missed: tuple[float, ...] = ()
    states: int = 0
    missing: float = 0.0
    has_end: bool = True
    unseen: float = 0.0

    def losses(self) -> tuple[MediaLoss, ...]:
        """Returns the losses of changes that are not shown, and of an end that was not looked at."""
        lost: list[MediaLoss] = []
        if self.missed:
            places = tuple(dict.fromkeys(clock(time) for time in self.missed))
            lost.append(MediaLoss("changes of the picture", len(self.missed), self.states, places[:_MAX_PLACES]))
        if self.unseen:
            lost.append(MediaLoss("seconds", round(self.unseen, 1), None, ("pictures of the end",)))
        return tuple(lost)


def choose_frames(
    reader: VideoReader, seconds: float, count: int, controls: MediaControls | None, source: str
) -> FrameChoice:
    """Returns up to `count` frames of a video, in order. `seconds` is its duration; 0 if it is not known.

    They show each state of the picture once, the greatest changes if there are too many, and what moves evenly in time.
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
        frames = reader.frames_at(times, _TOLERANCE / controls.fps)
        missing, has_end = reader.missing(start, end)
        return FrameChoice(tuple(frames), missing=missing, has_end=has_end)
    survey = reader.survey(start, end if end is not None else float("inf"))
    if not survey.candidates:
        raise MediaError(
            f"{source} has no frames that can be decoded.",
            source=source,
            hint="If a player can play it, make a clean copy: ffmpeg -i broken.mp4 clean.mp4",
        )
    first, last = survey.candidates[0].time, survey.candidates[-1].time
    end = max(last, end or 0.0)
    changes = picture_changes(survey.looks)
    found = states(cuts(survey.candidates, only_keyframes=survey.only_keyframes), changes, survey.only_keyframes)
    chosen = [time for _, time in found[: max(0, count - 1)]]
    moves = partial(moves_between, survey.looks, changes, survey.ends_still)
    times = spread([first, *chosen], last if survey.is_partial else end, count, _MIN_GAP, moves)
    if survey.only_keyframes:
        frames = reader.frames_at(times, _TOLERANCE * (end - start) / count, {*chosen})
    else:
        frames = reader.frames_at(sharpest(survey.candidates, times), 0.0)
    missed = tuple(sorted(time for _, time in found[max(0, count - 1) :]))
    unseen = end - last if survey.is_partial else 0.0
    return FrameChoice(tuple(frames), missed, len(found) + 1, survey.missing, survey.has_end, unseen)
