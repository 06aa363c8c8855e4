"""Transcripts as text with times and anchors, and what of a recording has no words in them."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.schema import DroppedSpan, MediaAnchor, MediaLoss, Transcript, TranscriptSegment

from ..common.times import clock, span

_PAUSE_SECONDS = 2.0
"""Shorter gaps between words are not reported."""
_PAUSES = frozenset({"silence", "no speech"})
_MAX_PLACES = 20


def transcript_line(segment: TranscriptSegment) -> str:
    """Returns a line with the time and the speaker, if they are known: "[00:12] words", "[00:12] Speaker 1: words"."""
    spoken = segment.text if segment.speaker is None else f"{segment.speaker}: {segment.text}"
    return spoken if segment.start is None else f"[{clock(segment.start)}] {spoken}"


def segment_anchors(segment: TranscriptSegment, line_start: int) -> tuple[MediaAnchor, ...]:
    """Returns the anchors of a segment whose line begins at `line_start`: of its words if they have times, else one."""
    start = line_start + len(transcript_line(segment)) - len(segment.text)
    anchors: list[MediaAnchor] = []
    position = 0
    for word in segment.words:
        found = segment.text.find(word.text, position)
        if word.text and found >= 0 and word.start is not None and word.end is not None:
            position = found + len(word.text)
            anchors.append(MediaAnchor(start + found, start + position, seconds=(word.start, word.end)))
    if anchors or segment.start is None or segment.end is None:
        return tuple(anchors)
    return (MediaAnchor(start, start + len(segment.text), seconds=(segment.start, segment.end)),)


def transcript_text(segments: Sequence[TranscriptSegment]) -> tuple[str, tuple[MediaAnchor, ...]]:
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
    dropped = [each for each in transcript.dropped if each.seconds >= _PAUSE_SECONDS or each.reason not in _PAUSES]
    if not dropped:
        return ()
    longest = sorted(dropped, key=_length, reverse=True)[:_MAX_PLACES]
    places = [f"{span(each.start, each.end)} ({each.reason})" for each in dropped if each in longest]
    count = round(sum(each.seconds for each in dropped), 1)
    total = round(max(transcript.seconds or 0.0, count), 1)
    return (MediaLoss("seconds", count, total, tuple(places)),)


def _length(dropped: DroppedSpan) -> float:
    return dropped.seconds
