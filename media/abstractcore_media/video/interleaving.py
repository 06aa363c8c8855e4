"""Puts frames and words of a video in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from abstractcore.schema import Blob, CallWarning, ContentPart, ImagePart, MediaAnchor, MediaLoss, Transcript, Usage

from ..audio.transcript import segment_anchors, transcript_line
from ..common.times import clock, span
from .reader import Frame, jpeg
from .selection import FrameOptions
from .sheets import PER_SHEET, contact_sheet

if TYPE_CHECKING:
    from abstractcore.ports import Conversion

_JPEG = "image/jpeg"


@dataclass(frozen=True, slots=True)
class VideoMoment:
    """Frames at a time: a label, and an image or a text that describes it, with the places of its pieces in the frame.
    `end` is the time of the last one.
    """

    time: float
    end: float
    label: str
    content: ImagePart | str
    anchors: tuple[MediaAnchor, ...] = ()


@dataclass(frozen=True, slots=True)
class VideoMoments:
    """The frames of a video, `count` in number, and what describing them took and lost."""

    shown: tuple[VideoMoment, ...]
    count: int
    usage: Usage | None = None
    model: str | None = None
    warnings: tuple[CallWarning, ...] = ()
    lost: tuple[MediaLoss, ...] = ()


def pictures(frames: Sequence[Frame], options: FrameOptions, max_side: int) -> VideoMoments:
    """Returns frames as images, or as contact sheets."""
    if not options.sheets:
        shown = [
            VideoMoment(each.time, each.time, f"[{clock(each.time)}]", image_of(each.jpeg(), each.time))
            for each in frames
        ]
        return VideoMoments(tuple(shown), len(frames))
    sheets: list[VideoMoment] = []
    for first in range(0, len(frames), PER_SHEET):
        group = frames[first : first + PER_SHEET]
        start, end = group[0].time, group[-1].time
        times = ", ".join(clock(each.time) for each in group)
        label = f"[{span(start, end)}] {len(group)} frames in rows, from left to right: {times}"
        sheets.append(VideoMoment(start, end, label, image_of(jpeg(contact_sheet(group, 2 * max_side)), start)))
    return VideoMoments(tuple(sheets), len(frames))


def interleaved(
    frames: VideoMoments | None,
    transcript: Transcript | None,
    *,
    heading: str = "",
    used: str,
    warnings: Sequence[CallWarning],
    lost: tuple[MediaLoss, ...],
) -> Conversion:
    """Returns frames and words in order of time; frames come before words of the same second. `heading` is a line above
    all, which names the subtitles that the words are from.
    """
    from abstractcore.ports import Conversion

    items: list[tuple[float, int, VideoMoment | int]] = []
    segments = transcript.segments if transcript is not None else ()
    items += [(each.time, 0, each) for each in (frames.shown if frames is not None else ())]
    items += [(each.start or 0.0, 1, index) for index, each in enumerate(segments)]
    content: list[str | ContentPart] = [heading + "\n"] if heading else []
    anchors: list[MediaAnchor] = []
    size = len(heading) + 1 if heading else 0
    for _, _, item in sorted(items, key=lambda each: each[:2]):
        if isinstance(item, VideoMoment):
            text = item.label if isinstance(item.content, ImagePart) else f"{item.label} {item.content}"
            times, shift = (item.time, item.end), size + len(item.label) + 1
            anchors.append(MediaAnchor(size, size + len(text), seconds=times))
            anchors += (
                replace(each, start=each.start + shift, end=each.end + shift, page=None, seconds=times)
                for each in item.anchors
            )
        else:
            text = transcript_line(segments[item])
            anchors += segment_anchors(segments[item], size)
        content.append(text + "\n")
        size += len(text) + 1
        if isinstance(item, VideoMoment) and isinstance(item.content, ImagePart):
            content.append(item.content)
    counted = f"{frames.count} frames" if frames is not None else ""
    return Conversion(
        content,
        " and ".join(filter(None, [counted, _name_of_words(transcript, heading)])),
        usage=frames.usage if frames is not None else None,
        warnings=(*warnings, *(frames.warnings if frames is not None else ())),
        anchors=tuple(anchors),
        fallback=used,
        model=_model(frames, transcript),
        lost=(*lost, *(frames.lost if frames is not None else ())),
    )


def _model(frames: VideoMoments | None, transcript: Transcript | None) -> str | None:
    names = [frames.model if frames is not None else None, transcript.model if transcript is not None else None]
    return ", ".join(filter(None, names)) or None


def _name_of_words(transcript: Transcript | None, heading: str) -> str:
    if transcript is None:
        return ""
    return "subtitles" if heading else "transcript"


def image_of(data: bytes, time: float) -> ImagePart:
    """Returns a frame as a part that is named by its time."""
    name = f"frame-{clock(time).replace(':', '-')}.jpg"
    return ImagePart(Blob.from_bytes(data, _JPEG, name=name))
