"""Converts a video to frames and a transcript, in order of time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, MediaError, MissingExtraError, ModelStoreError
from abstractcore.ports import total_usage
from abstractcore.schema import CallWarning, MediaLoss, MediaPart

from ..audio.read_length import damage_losses, damage_warnings
from ..common.content import check_family, source_of
from ..common.stopping import StopCheck
from .decoding import DecodedVideo
from .describing import described
from .interleaving import VideoMoments, interleaved, pictures
from .reader import VideoInfo
from .selection import FrameChoice, FrameOptions
from .words import VideoWords, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abstractcore.ports import Conversion, MediaContext

    from ..audio.speech_models import SpeechModels
    from .handler import VideoHandler

_JPEG = "image/jpeg"


def converted_video(part: MediaPart, context: MediaContext, handler: VideoHandler, models: SpeechModels) -> Conversion:
    """Returns frames and words in order of time, within the limits of `handler`; see `VideoHandler.convert`."""
    check_family(part, "video/", "audio/")
    source = source_of(part)
    names = context.fallbacks or [fallback.name for fallback in handler.fallbacks]
    wanted = FrameOptions.of(context.options, handler.max_frames)
    options = wanted if _JPEG not in context.accepted_outputs else wanted.within(context.max_images)
    check_stop = StopCheck(source, context.timeout)
    warnings: list[CallWarning] = []
    shown: VideoMoments | None = None
    choice: FrameChoice | None = None
    words = VideoWords()
    failure: AbstractCoreError | None = None
    with closing(DecodedVideo(part, context, handler, options.count)) as video:
        info = video.info
        try:
            if any("frames" in name for name in names) and info.has_video:
                choice = video.choice()
                shown = (
                    pictures(choice.frames, options, handler.max_side)
                    if _JPEG in context.accepted_outputs
                    else described(choice.frames, context, source, check_stop)
                )
        except MediaError as error:
            failure = error
    try:
        if any("transcript" in name for name in names):
            words = words_of(part, context, info, models, handler.max_seconds)
            warnings += words.warnings
    except (MediaError, MissingExtraError, ModelStoreError) as error:
        if shown is None or "frames" not in names:
            raise failure or error from error
        warnings.append(CallWarning("not_transcribed", "", f"The sound of {source} was not transcribed: {error}"))
    heard = words.transcript
    used = _used(names, shown is not None, heard is not None and bool(heard.segments))
    if used is None:
        raise failure or _nothing(source, info)
    if failure is not None:
        warnings.append(CallWarning("frames_left_out", "", f"Only the sound of {source} is sent: {failure}"))
    lost = _losses(info, shown if "frames" in used else None, words)
    if choice is not None and "frames" in used:
        lost += choice.losses()
        if not any(warning.code == "media_damaged" for warning in warnings):
            seconds = max(0.0, info.seconds - choice.missing)
            warnings += damage_warnings(source, seconds, choice.missing, choice.has_end)
            lost += tuple(damage_losses(seconds, choice.missing))
    conversion = interleaved(
        shown if "frames" in used else None,
        heard if "transcript" in used else None,
        heading=words.heading if "transcript" in used else "",
        used=used,
        warnings=warnings,
        lost=lost,
    )
    has_fewer = shown is not None and shown.count == options.count < wanted.count
    return replace(conversion, usage=total_usage((conversion.usage, words.usage)), has_fewer_images=has_fewer)


def _used(names: Sequence[str], has_frames: bool, has_words: bool) -> str | None:
    """Returns the first fallback that what was found is enough for."""
    for name in names:
        if (has_frames or "frames" not in name) and (has_words or "transcript" not in name):
            return name
    return None


def _losses(info: VideoInfo, shown: VideoMoments | None, words: VideoWords) -> tuple[MediaLoss, ...]:
    sent = shown.count if shown is not None else 0
    total = max(info.frames, sent)
    lost = [MediaLoss("frames", total - sent, total)] if total > sent else []
    if words.transcript is None and info.has_sound:
        lost.append(MediaLoss("seconds", info.seconds, info.seconds, ("sound",)))
    if words.transcript is None and info.subtitles and not words.lost:
        lost.append(MediaLoss("subtitle tracks", info.subtitles, info.subtitles))
    return (*lost, *words.lost)


def _nothing(source: str, info: VideoInfo) -> MediaError:
    tracks = " and ".join(name for name, has in (("video", info.has_video), ("audio", info.has_sound)) if has)
    return MediaError(
        f"Nothing was found in {source} for this model: no words and no frames (its tracks: {tracks or 'none'}).",
        source=source,
        hint="Use a model that accepts videos or images, or set vision_model=... in create_llm.",
    )
