"""`Transcript`: what is said in a recording and when, by whom if that is known, and what is not in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from .base_error import SchemaError
from .immutable import Immutable
from .json_values import check_choice, check_items, check_real, check_text

DropReason = Literal["silence", "no speech", "repetition", "not understood", "not decoded"]
"""Why a part of a recording has no words: nothing to hear, no voice, the same text again and again, a guess of the
model, or damage of the file."""
_REASONS = get_args(DropReason)
Piece = TypeVar("Piece", "TranscriptWord", "TranscriptSegment")


@dataclass(frozen=True, slots=True)
class TranscriptWord(Immutable):
    """A word and its time in the recording, in seconds. What the transcriber does not report is None."""

    text: str
    start: float | None = None
    end: float | None = None
    speaker: str | None = None
    log_probability: float | None = None

    def __post_init__(self) -> None:
        _check_piece(self)


@dataclass(frozen=True, slots=True)
class TranscriptSegment(Immutable):
    """A sentence or so, and its time in the recording, in seconds. What the transcriber does not report is None.

    `words` are there if they were requested and the transcriber reports them. `log_probability` is the mean of the
    tokens, `no_speech` the probability, from 0 to 1, that nobody speaks.
    """

    text: str
    start: float | None = None
    end: float | None = None
    words: tuple[TranscriptWord, ...] = ()
    speaker: str | None = None
    log_probability: float | None = None
    no_speech: float | None = None

    def __post_init__(self) -> None:
        _check_piece(self)
        _check_optional(self, "no_speech")
        object.__setattr__(self, "words", check_items(self.words, TranscriptWord, "words"))

    def later(self, seconds: float) -> TranscriptSegment:
        """Returns the segment with all times `seconds` later."""
        return replace(_later(self, seconds), words=tuple(_later(word, seconds) for word in self.words))


@dataclass(frozen=True, slots=True)
class DroppedSpan(Immutable):
    """A part of a recording that is not in its transcript, in seconds, and why."""

    start: float
    end: float
    reason: DropReason

    def __post_init__(self) -> None:
        _check_times(self.start, self.end)
        check_choice(self.reason, _REASONS, "reason")

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Transcript(Immutable):
    """What is said in a recording. Times count from the beginning of the file, in seconds.

    The transcript is of `seconds` from `begin` on; None if the length is not known. `language` is a code such as "en",
    and `certainty` the probability, from 0 to 1, with which it was detected; None if it was given or is not reported.
    `model` is the name of the transcriber.
    """

    segments: tuple[TranscriptSegment, ...] = ()
    dropped: tuple[DroppedSpan, ...] = ()
    language: str | None = None
    certainty: float | None = None
    begin: float = 0.0
    seconds: float | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", check_items(self.segments, TranscriptSegment, "segments"))
        object.__setattr__(self, "dropped", check_items(self.dropped, DroppedSpan, "dropped"))
        check_real(self.begin, "begin")
        for name in ("certainty", "seconds"):
            _check_optional(self, name)
        for name in ("language", "model"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)

    @property
    def text(self) -> str:
        """The text of all segments, with a space between them."""
        return " ".join(each.text for each in self.segments)

    @property
    def speakers(self) -> tuple[str, ...]:
        """The names of the speakers, in the order in which they begin to speak."""
        found = (each.speaker for segment in self.segments for each in (segment, *segment.words))
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def as_srt(self) -> str:
        """Returns it as subtitles in the format SubRip: cues of two lines and 7 seconds at most.

        A segment without times of words is divided by the length of its words. Raises `SchemaError` for one without
        times.
        """
        from .subtitles import srt

        return srt(self)

    def as_vtt(self) -> str:
        """Returns it as subtitles in the format WebVTT, with the speakers as voices; otherwise as `as_srt`."""
        from .subtitles import vtt

        return vtt(self)

    def later(self, seconds: float) -> Transcript:
        """Returns the transcript with all times `seconds` later."""
        return replace(
            self,
            segments=tuple(each.later(seconds) for each in self.segments),
            dropped=tuple(replace(each, start=each.start + seconds, end=each.end + seconds) for each in self.dropped),
            begin=self.begin + seconds,
        )


def _later(piece: Piece, seconds: float) -> Piece:
    if piece.start is None or piece.end is None:
        return piece
    return replace(piece, start=piece.start + seconds, end=piece.end + seconds)


def _check_piece(piece: TranscriptWord | TranscriptSegment) -> None:
    check_text(piece.text, "text")
    if piece.speaker is not None:
        check_text(piece.speaker, "speaker")
    _check_optional(piece, "log_probability")
    if piece.start is not None and piece.end is not None:
        _check_times(piece.start, piece.end)
    elif (piece.start is None) != (piece.end is None):
        raise SchemaError("start and end are given together, or neither", "start" if piece.start is None else "end")


def _check_times(start: object, end: object) -> None:
    if check_real(start, "start") > check_real(end, "end"):
        raise SchemaError("ends before its start", "end")


def _check_optional(record: object, name: str) -> None:
    value = getattr(record, name)
    if value is not None:
        check_real(value, name)
