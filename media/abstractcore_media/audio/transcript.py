"""`Transcript`: what is said in a recording and when, as text with times and anchors, and what is not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstractcore.schema import MediaAnchor, MediaLoss

from ..common.times import clock, span

_PAUSE_SECONDS = 2.0
"""Shorter gaps between words are not reported."""
_MAX_PLACES = 20


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its time, in seconds. `text` may begin with a space."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or a part of one, with its time in seconds, and its words if they were asked for."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """A part of a recording that is not in the transcript, and why: "silence", "no speech", "not understood"."""

    start: float
    end: float
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What is said in a recording from `begin` on: `seconds` were read of the `announced` ones (0: not known).

    `language` is a code such as "en"; it was detected with `certainty` (from 0 to 1; 1 if it was given).
    """

    segments: tuple[Segment, ...]
    dropped: tuple[Dropped, ...]
    begin: float
    seconds: float
    announced: float
    language: str
    certainty: float
    model: str


def transcript_line(segment: Segment) -> str:
    """Returns a line with the time: "[00:12] words"."""
    return f"[{clock(segment.start)}] {segment.text}"


def segment_anchors(segment: Segment, line_start: int) -> tuple[MediaAnchor, ...]:
    """Returns the anchors of a segment whose line begins at `line_start`: of its words if it has them, else one."""
    start = line_start + len(transcript_line(segment)) - len(segment.text)
    if not segment.words:
        return (MediaAnchor(start, start + len(segment.text), seconds=(segment.start, segment.end)),)
    anchors: list[MediaAnchor] = []
    position = 0
    for word in segment.words:
        text = word.text.strip()
        found = segment.text.find(text, position)
        if text and found >= 0:
            position = found + len(text)
            anchors.append(MediaAnchor(start + found, start + position, seconds=(word.start, word.end)))
    return tuple(anchors)


def transcript_text(segments: Sequence[Segment]) -> tuple[str, tuple[MediaAnchor, ...]]:
    """Returns the lines of a transcript, and where each piece of them is in the recording."""
    lines: list[str] = []
    anchors: list[MediaAnchor] = []
    size = 0
    for segment in segments:
        lines.append(transcript_line(segment))
        anchors += segment_anchors(segment, size)
        size += len(lines[-1]) + 1
    return "\n".join(lines), tuple(anchors)


def sound_losses(transcript: Transcript) -> tuple[MediaLoss, ...]:
    """Returns the seconds that have no words in the transcript, with the longest places in order; () for none."""
    dropped = [each for each in transcript.dropped if each.end - each.start >= _PAUSE_SECONDS or _is_speech(each)]
    missing = transcript.announced - transcript.seconds
    if transcript.announced and missing > 0.1 * transcript.announced + 1:
        end = transcript.begin + transcript.seconds
        dropped.append(Dropped(end, end + missing, "not decoded"))
    if not dropped:
        return ()
    longest = sorted(dropped, key=lambda each: each.start - each.end)[:_MAX_PLACES]
    places = [f"{span(each.start, each.end)} ({each.reason})" for each in dropped if each in longest]
    count = round(sum(each.end - each.start for each in dropped), 1)
    total = round(max(transcript.seconds, count), 1)
    return (MediaLoss("seconds", count, total, tuple(places)),)


def _is_speech(dropped: Dropped) -> bool:
    return dropped.reason not in ("silence", "no speech")
