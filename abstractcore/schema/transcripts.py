"""`Transcript`: what is said in a recording and when, by whom if that is known, and what is not in it.

Transcripts as subtitles: SubRip and WebVTT (https://www.w3.org/TR/webvtt1/). Long segments become several cues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from .base_error import SchemaError
from .json_values import check_choice, check_items, check_real, check_text
from .reprs import Immutable

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
    """The natural logarithm of its probability, at most 0."""

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
    """What was said, in order."""
    dropped: tuple[DroppedSpan, ...] = ()
    """Parts of the recording that are not in the transcript, such as silence."""
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

        return srt(self)

    def as_vtt(self) -> str:
        """Returns it as subtitles in the format WebVTT, with the speakers as voices; otherwise as `as_srt`."""

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


_LONGEST, _LONGEST_SECONDS = 84, 7.0
"""Characters of a cue, on two lines, and its time."""
_LINE = 42
_PAUSE = 1.0
_SHORTEST_SECONDS = 0.001
_STOPS = (".", ",", ";", ":", "?", "!", "\u2026", "\u3002", "\uff0c", "\uff1f", "\uff01")
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    end: float
    text: str
    speaker: str | None


@dataclass(frozen=True, slots=True)
class _Word:
    """A word: its time, and where it begins in the text of its segment."""

    start: float
    end: float
    place: int
    text: str


def srt(transcript: Transcript) -> str:
    """Returns a transcript in the format SubRip; see `Transcript.as_srt`."""
    cues = _cues(transcript)
    blocks: list[str] = []
    for number, cue in enumerate(cues, 1):
        new = cue.speaker is not None and (number == 1 or cues[number - 2].speaker != cue.speaker)
        text = _lines(f"{cue.speaker}: {cue.text}" if new else cue.text)
        blocks.append(f"{number}\n{_time(cue.start, ',')} --> {_time(cue.end, ',')}\n{text}\n")
    return "\n".join(blocks)


def vtt(transcript: Transcript) -> str:
    """Returns a transcript in the format WebVTT; see `Transcript.as_vtt`."""
    blocks = ["WEBVTT\n"]
    for cue in _cues(transcript):
        text = _lines(cue.text).translate(_ESCAPED)
        voice = "" if cue.speaker is None else f"<v {_one_line(cue.speaker).translate(_ESCAPED)}>"
        blocks.append(f"{_time(cue.start, '.')} --> {_time(cue.end, '.')}\n{voice}{text}\n")
    return "\n".join(blocks)


def _cues(transcript: Transcript) -> list[_Cue]:
    return [cue for segment in transcript.segments if segment.text.strip() for cue in _cues_of(segment)]


def _cues_of(segment: TranscriptSegment) -> Iterator[_Cue]:
    words = _words(segment)
    first = 0
    for place in range(1, len(words) + 1):
        if place < len(words) and not _ends(words, first, place):
            continue
        end = words[place].place if place < len(words) else len(segment.text)
        text = _one_line(segment.text[words[first].place : end])
        last = max(words[place - 1].end, words[first].start + _SHORTEST_SECONDS)
        yield _Cue(words[first].start, last, text, segment.speaker)
        first = place


def _ends(words: Sequence[_Word], first: int, place: int) -> bool:
    """Whether a cue that begins with the word `first` ends before the word `place`."""
    last, word = words[place - 1], words[place]
    size = word.place + len(word.text) - words[first].place
    seconds = word.end - words[first].start
    if size > _LONGEST or seconds > _LONGEST_SECONDS or word.start - last.end > _PAUSE:
        return True
    return last.text.endswith(_STOPS) and _rest_is_long(words, first, place)


def _rest_is_long(words: Sequence[_Word], first: int, place: int) -> bool:
    """Whether the cue would not hold the rest of the segment, and is half full."""
    begin, end = words[first], words[-1]
    whole = end.place + len(end.text) - begin.place
    return (whole > _LONGEST or end.end - begin.start > _LONGEST_SECONDS) and (
        words[place].place - begin.place > _LONGEST // 2
    )


def _words(segment: TranscriptSegment) -> list[_Word]:
    """Returns the words of a segment with their times; without any reported, by the length of each word."""
    if segment.start is None or segment.end is None:
        hint = "Use its text, or another model."
        raise SchemaError("subtitles need times, which this transcript does not have", "segments", hint=hint)
    found: list[_Word] = []
    place = 0
    for word in segment.words:
        text = word.text.strip()
        start = segment.text.find(text, place)
        if text and start >= 0 and word.start is not None and word.end is not None:
            place = start + len(text)
            found.append(_Word(word.start, word.end, start if found else 0, text))
    return found or _by_length(segment.text, segment.start, segment.end)


def _by_length(text: str, start: float, end: float) -> list[_Word]:
    found: list[_Word] = []
    place = 0
    for word in text.split():
        place = text.index(word, place)
        times = [start + (end - start) * each / len(text) for each in (place, place + len(word))]
        found.append(_Word(times[0], times[1], place, word))
        place += len(word)
    return found


def _lines(text: str) -> str:
    """Returns a text on one line, or on two of about the same length."""
    text = _one_line(text)
    if len(text) <= _LINE:
        return text
    middle = len(text) // 2
    spaces = [place for place, each in enumerate(text) if each == " "]
    if not spaces:
        return text
    place = min(spaces, key=lambda each: abs(each - middle))
    return f"{text[:place]}\n{text[place + 1 :]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _time(seconds: float, point: str) -> str:
    whole = max(0, round(seconds * 1000))
    hours, rest = divmod(whole, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"
