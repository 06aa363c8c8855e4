"""The words of a video: its subtitles where they are in the spoken language, else a transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from abstractcore.errors import MediaError, MissingExtraError, ModelStoreError
from abstractcore.ports import total_usage
from abstractcore.schema import MediaControls, MediaLoss, Transcript

from ..audio.handler import transcript_warnings
from ..audio.options import RecognitionOptions
from ..audio.read_length import damage_losses, damage_warnings
from ..audio.transcript import sound_losses
from ..audio.transcription import transcribe
from ..common.content import source_of
from .languages import language_code
from .subtitles import Subtitles, SubtitleTrack, subtitles_of

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext, Transcription
    from abstractcore.schema import CallWarning, MediaPart, Usage

    from ..audio.speech_models import SpeechModels
    from .reader import VideoInfo

_PROBE_SECONDS = 60.0
_PROBE_WORDS, _PROBE_SHARE = 4, 0.5
"""A track is in the spoken language if it has this share of the words that are heard in a minute."""
_SPARSE_SHARE = 0.05
"""A track whose cues are shown for less than this of a longer video does not hold what is said."""
_SPARSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class VideoWords:
    """What is said in a video, and what hearing it took and lost. `heading` names the subtitles that it is from."""

    transcript: Transcript | None = None
    heading: str = ""
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()
    lost: tuple[MediaLoss, ...] = ()


def words_of(
    part: MediaPart, context: MediaContext, info: VideoInfo, models: SpeechModels, max_seconds: float
) -> VideoWords:
    """Returns subtitles in the spoken language, else a transcript, else other subtitles; without any of them nothing.

    Raises the errors of `transcribe` if there are no subtitles instead.
    """
    found = subtitles_of(part, context) if info.subtitles else Subtitles(())
    hearing = _Hearing(part, context, models, max_seconds)
    full = [each for each in found.tracks if each.cues and not each.is_partial and not _is_sparse(each, found)]
    track = _spoken(full, hearing, info) if full else None
    if track is not None:
        return _as_words(track, found, part, hearing.usage)
    if not info.has_sound:
        return VideoWords(lost=_left_out(found, None))
    try:
        heard = hearing.all()
    except (MediaError, MissingExtraError, ModelStoreError):
        if full:
            return _as_words(_best(full), found, part, hearing.usage)
        raise
    if not heard.transcript.segments and full:
        return _as_words(_best(full), found, part, hearing.usage)
    return VideoWords(
        heard.transcript,
        usage=hearing.usage,
        warnings=transcript_warnings(heard, source_of(part)),
        lost=(*sound_losses(heard.transcript), *_left_out(found, None)),
    )


class _Hearing:
    """Transcribes the sound of a video, or a minute of it, and adds up what that takes."""

    def __init__(self, part: MediaPart, context: MediaContext, models: SpeechModels, max_seconds: float) -> None:
        self.part = part
        self.language = RecognitionOptions.of(
            context.options, context.transcriber.name if context.transcriber is not None else None
        ).language
        self._context, self._models, self._max_seconds = context, models, max_seconds
        self.usage: Usage | None = None

    def all(self) -> Transcription:
        return self._heard(self.part)

    def minute(self, start: float) -> Transcript | None:
        """Returns what is heard in a minute; None if that cannot be transcribed."""
        controls = self.part.controls or MediaControls()
        end = min(start + _PROBE_SECONDS, controls.end if controls.end is not None else float("inf"))
        part = replace(self.part, controls=replace(controls, start=start, end=end))
        try:
            return self._heard(part).transcript
        except (MediaError, MissingExtraError, ModelStoreError):
            return None

    def _heard(self, part: MediaPart) -> Transcription:
        found = transcribe(part, self._context, self._models, self._max_seconds)
        self.usage = total_usage((self.usage, found.usage))
        return found


def _spoken(full: Sequence[SubtitleTrack], hearing: _Hearing, info: VideoInfo) -> SubtitleTrack | None:
    """Returns the track in the spoken language: by its tag, or by what is heard in a minute where a tag is missing."""
    if not info.has_sound:
        return _best(full)
    spoken = language_code(hearing.language or info.spoken)
    if tagged := [each for each in full if spoken and each.language == spoken]:
        return _best(tagged)
    unknown = [each for each in full if not each.language or not spoken]
    if not unknown:
        return None
    start = min(each.cues[0].start or 0.0 for each in unknown)
    heard = hearing.minute(start)
    if heard is None or not heard.segments:
        return None
    language = language_code(heard.language or "")
    if tagged := [each for each in unknown if language and each.language == language]:
        return _best(tagged)
    alike = [each for each in unknown if not each.language and _is_alike(each, heard, start)]
    return _best(alike) if alike else None


def _best(tracks: Sequence[SubtitleTrack]) -> SubtitleTrack:
    """Returns the default track, else the one with the most cues."""
    return max(tracks, key=lambda each: (each.is_default, len(each.cues)))


def _is_alike(track: SubtitleTrack, heard: Transcript, start: float) -> bool:
    cues = (cue.text for cue in track.cues if (cue.start or 0.0) < start + _PROBE_SECONDS and (cue.end or 0.0) >= start)
    said, shown = _words(heard.text), set(_words(" ".join(cues)))
    return len(said) >= _PROBE_WORDS and sum(word in shown for word in said) >= _PROBE_SHARE * len(said)


def _words(text: str) -> list[str]:
    """Returns words, or single characters of scripts without spaces."""
    return _WORD.findall(text.casefold())


_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")


def _is_sparse(track: SubtitleTrack, found: Subtitles) -> bool:
    seconds = track.seconds * track.count / len(track.cues)  # with those beyond the limit
    return found.until > _SPARSE_SECONDS and seconds < _SPARSE_SHARE * found.until


def _as_words(track: SubtitleTrack, found: Subtitles, part: MediaPart, usage: Usage | None) -> VideoWords:
    """Returns the cues of a track as words."""
    source = source_of(part)
    return VideoWords(
        Transcript(track.cues, language=track.language or None, seconds=found.until),
        heading=f"[subtitles: {track.name}]",
        usage=usage,
        warnings=tuple(damage_warnings(source, found.until, found.missing, found.has_end)),
        lost=(*damage_losses(found.until, found.missing), *_left_out(found, track)),
    )


def _left_out(found: Subtitles, used: SubtitleTrack | None) -> tuple[MediaLoss, ...]:
    """Returns what is not among the words: cues of other tracks, pictures, and those beyond the limits."""
    tracks, total = found.tracks, found.total
    lost = [MediaLoss("subtitle tracks", total - len(tracks), total)] if total > len(tracks) else []
    for what, is_pictures in (("subtitles", False), ("subtitle pictures", True)):
        counts = [(each.count - (len(each.cues) if each is used else 0), each) for each in tracks]
        counts = [(count, each) for count, each in counts if count > 0 and each.is_pictures is is_pictures]
        if counts:
            total = sum(each.count for each in tracks if each.is_pictures is is_pictures)
            places = tuple(f"{each.name}{', forced or comments' * each.is_partial}: {count}" for count, each in counts)
            lost.append(MediaLoss(what, sum(count for count, _ in counts), total, places[:20]))
    return tuple(lost)
