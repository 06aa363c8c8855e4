"""Transcripts as subtitles: SubRip and WebVTT (https://www.w3.org/TR/webvtt1/). Long segments become several cues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .base_error import SchemaError
from .transcripts import Transcript, TranscriptSegment

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
