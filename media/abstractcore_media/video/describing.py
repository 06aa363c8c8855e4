"""Describes the frames of a video by the handler of images, for models that accept none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, MediaError, MissingExtraError
from abstractcore.ports import total_usage
from abstractcore.schema import MediaAnchor, MediaLoss

from ..common.times import clock
from .interleaving import VideoMoment, VideoMoments, image_of

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext

    from .reader import Frame

_PLACES = 5


def described(
    frames: Sequence[Frame], context: MediaContext, source: str, check_stop: Callable[[], None]
) -> VideoMoments:
    """Returns frames described by the handler of images; raises `MediaError` if it can describe none of them."""
    shown: list[VideoMoment] = []
    conversions: list[Conversion] = []
    failure: AbstractCoreError | None = None
    for number, frame in enumerate(frames if context.to_text is not None else (), 1):
        check_stop()
        try:
            conversion = context.to_text(image_of(frame.jpeg(), frame.time)) if context.to_text is not None else None
        except (MediaError, MissingExtraError) as error:
            failure = error
            break  # what it cannot do for one, it cannot do for the others
        if conversion is not None and (text := conversion.text.strip()):
            conversions.append(conversion)
            places = _shifted(conversion, len(conversion.text) - len(conversion.text.lstrip()), len(text))
            shown.append(VideoMoment(frame.time, frame.time, f"[{clock(frame.time)}] Frame:", text, places))
        context.progress(number, len(frames), "frames")
    if not shown:
        if isinstance(failure, MissingExtraError):
            raise failure
        raise MediaError(
            f"The frames of {source} cannot be described: {failure or 'there is no text for them'}",
            source=source,
            hint="Use a model that accepts images, or set vision_model=... in create_llm.",
        ) from failure
    return VideoMoments(
        tuple(shown),
        len(shown),
        total_usage(each.usage for each in conversions),
        next((each.model for each in conversions if each.model), None),
        tuple(dict.fromkeys(warning for each in conversions for warning in each.warnings)),
        _lost_of_frames(shown, conversions),
    )


def _shifted(conversion: Conversion, lead: int, length: int) -> tuple[MediaAnchor, ...]:
    """Returns the anchors of a text without `lead` characters before it, and what is beyond `length`."""
    moved = ((each, max(each.start - lead, 0), min(each.end - lead, length)) for each in conversion.anchors)
    return tuple(replace(each, start=start, end=end) for each, start, end in moved if start < end)


def _lost_of_frames(shown: Sequence[VideoMoment], conversions: Sequence[Conversion]) -> tuple[MediaLoss, ...]:
    """Returns the losses of descriptions of frames, added up, with the times of the frames."""
    sums: dict[str, MediaLoss] = {}
    for frame, conversion in zip(shown, conversions, strict=True):
        for lost in conversion.lost:
            name = f"{lost.what} of frames"
            before = sums.get(name, MediaLoss(name, 0, 0))
            total = None if before.total is None or lost.total is None else before.total + lost.total
            places = (*before.places, f"{clock(frame.time)}: {', '.join(lost.places) or lost.what}")[:_PLACES]
            sums[name] = MediaLoss(name, before.count + lost.count, total, places)
    return tuple(sums.values())
