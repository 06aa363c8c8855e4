"""`edited`: a transcript with edits of its text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from abstractcore.ports import Edit
from abstractcore.schema import Transcript, TranscriptSegment


def edited(transcript: Transcript, edits: Sequence[Edit]) -> Transcript:
    """Returns a transcript with edits of `transcript.text`, which are in order.

    Segments that one edit touches become one, with the time of all of them and the first speaker. A changed segment has
    no words and probabilities, which are those of the text as it was; one without any text is left out.
    """
    segments = transcript.segments
    ends = [after - 1 for after in accumulate(len(each.text) + 1 for each in segments)]  # spaces are between them
    starts = [end - len(each.text) for end, each in zip(ends, segments, strict=True)]
    kept: list[TranscriptSegment] = []
    following = 0
    for first, last, inside in _groups(edits, starts, ends):
        kept += segments[following:first]
        text = _changed(transcript.text, starts[first], ends[last], inside)
        if text.strip():
            end = segments[last].end
            begin = None if end is None else segments[first].start
            kept.append(TranscriptSegment(text, begin, None if begin is None else end, speaker=segments[first].speaker))
        following = last + 1
    return replace(transcript, segments=(*kept, *segments[following:]))


def _groups(edits: Sequence[Edit], starts: Sequence[int], ends: Sequence[int]) -> list[tuple[int, int, list[Edit]]]:
    """Returns the segments, from the first to the last one, that become one by some edits."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        first, last = bisect_left(ends, edit.start), bisect_right(starts, edit.end) - 1
        if groups and first <= groups[-1][1]:
            begin, end, inside = groups.pop()
            inside.append(edit)
            groups.append((begin, max(end, last), inside))
        else:
            groups.append((first, last, [edit]))
    return groups


def _changed(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """Returns a text from `start` to `end`, changed by edits in it."""
    pieces: list[str] = []
    for edit in edits:
        pieces += (text[start : edit.start], edit.text)
        start = edit.end
    return "".join((*pieces, text[start:end]))
