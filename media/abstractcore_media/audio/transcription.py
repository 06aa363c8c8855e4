"""Transcribes recordings: decodes, splits at pauses and recognises them, at most a few minutes in memory at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from abstractcore.ports import Transcription, total_usage
from abstractcore.schema import CallWarning, DroppedSpan, MediaPart, Transcript, TranscriptSegment, Usage

from ..common.content import source_of
from ..common.parallel import in_order
from ..common.stopping import StopCheck
from .gates import gated
from .isolated_speech import IsolatedRecogniser, find_isolated_speech
from .options import RecognitionOptions
from .pauses import speech_pieces
from .peaks import Peaks
from .read_length import damage_warnings
from .sound import SECONDS_PER_BLOCK, SoundReader, announced_between
from .speech import WhisperRecogniser, find_speech

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .pauses import SpeechPiece
    from .speech_models import SpeechModels


class Recogniser(Protocol):
    """Recognises the speech of one recording, piece by piece: the model on this machine, or one elsewhere."""

    max_seconds: float
    """The longest piece."""
    max_bytes: float
    """The largest one, as samples of 16 bits."""
    at_once: int
    """How many pieces may be recognised at once."""

    def __call__(self, piece: SpeechPiece) -> Transcription:
        """Returns the segments of a piece, with times from its beginning; some may be no speech."""
        ...


def transcribe(part: MediaPart, context: MediaContext, models: SpeechModels, max_seconds: float) -> Transcription:
    """Returns the transcript of a recording, within its controls; without segments if there is no speech.

    Raises `MediaError` if it cannot be decoded, has no sound, or is longer than `max_seconds`, and the errors of
    `context.transcriber`.
    """
    source = source_of(part)
    options = RecognitionOptions.of(
        context.options, context.transcriber.name if context.transcriber is not None else None
    )
    controls = part.controls
    start = controls.start or 0.0 if controls is not None else 0.0
    end = controls.end if controls is not None else None
    check_stop = StopCheck(source, context.timeout)
    recogniser = _recogniser(context, models, options, source, check_stop)
    run = partial(context.isolated, source, SECONDS_PER_BLOCK)
    reader = SoundReader(part, max_seconds, start, end, context.timeout, run)
    peaks, heard = Peaks(), _TranscriptBuilder(options)
    limits = {"max_seconds": recogniser.max_seconds, "max_bytes": recogniser.max_bytes}
    is_isolated = context.options.get("transcription_isolated")
    find = partial(find_isolated_speech, context, source) if is_isolated else find_speech
    pieces = speech_pieces(peaks.of(reader.blocks()), find, **limits)
    for piece, found in in_order(recogniser, pieces, recogniser.at_once):
        check_stop()
        heard.add(piece, found)
        total = announced_between(reader.announced, start, end)
        context.progress(piece.end, max(total, piece.end) if total else None, "seconds")
    context.progress(reader.seconds, reader.seconds, "seconds")
    return heard.all(reader, peaks, source)


def _recogniser(
    context: MediaContext, models: SpeechModels, options: RecognitionOptions, source: str, check_stop: StopCheck
) -> Recogniser:
    if context.transcriber is None:
        if context.options.get("transcription_isolated"):
            return IsolatedRecogniser(context, options, source)
        load = partial(models.load, options.model, context.models.path, context.spare_cores)
        return WhisperRecogniser(load, options, source)
    from .remote import RemoteRecogniser

    return RemoteRecogniser(context.transcriber, options, context, check_stop)


class _TranscriptBuilder:
    """What was recognised in the pieces of a recording so far."""

    def __init__(self, options: RecognitionOptions) -> None:
        self._model = options.model
        self._language = options.language
        self._certainty: float | None = None
        self._said: list[TranscriptSegment] = []
        self._dropped: list[DroppedSpan] = []
        self._covered: list[tuple[float, float]] = []
        self._usage: Usage | None = None
        self._warnings: dict[CallWarning, None] = {}

    def add(self, piece: SpeechPiece, found: Transcription) -> None:
        """Adds what is kept of a piece, at its place in the recording."""
        said, dropped = gated([_placed(each, piece) for each in found.transcript.segments])
        self._said += said
        self._dropped += dropped
        for each in (*said, *dropped):
            if each.start is not None and each.end is not None:
                self._covered += piece.parts_between(each.start, each.end)
        if self._language is None:
            self._language, self._certainty = found.transcript.language, found.transcript.certainty
        self._usage = total_usage((self._usage, found.usage))
        self._warnings |= dict.fromkeys(found.warnings)

    def all(self, reader: SoundReader, peaks: Peaks, source: str) -> Transcription:
        """Returns the transcript of all that was read, with a warning about what could not be."""
        dropped = sorted([*self._dropped, *peaks.gaps(self._covered)], key=lambda each: each.start)
        if reader.missing:
            dropped.append(DroppedSpan(reader.seconds, reader.seconds + reader.missing, "not decoded"))
        damage = damage_warnings(source, reader.seconds, reader.missing, reader.has_end)
        transcript = Transcript(
            segments=tuple(self._said),
            dropped=tuple(dropped),
            language=self._language,
            certainty=self._certainty,
            seconds=reader.seconds,
            model=self._model,
        )
        return Transcription(transcript.later(reader.begin), self._usage, (*damage, *self._warnings))


def _placed(segment: TranscriptSegment, piece: SpeechPiece) -> TranscriptSegment:
    """Returns a segment of a piece with times in the recording; one without times has those of the piece."""
    words = tuple(
        replace(word, start=start, end=end)
        for word in segment.words
        if word.start is not None and word.end is not None
        for start, end in [piece.times(word.start, word.end)]
    )
    start, end = piece.begin, piece.end
    if segment.start is not None and segment.end is not None:
        start, end = piece.times(segment.start, segment.end)
    return replace(segment, start=start, end=end, words=words)
