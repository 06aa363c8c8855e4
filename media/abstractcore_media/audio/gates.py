"""What of recognised speech is not kept: repetition, sound without speech, and what was not understood."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby

from abstractcore.schema import DroppedSpan, DropReason, TranscriptSegment

_REPETITION = 2.4
"""The ratio of compression of a text that repeats itself: Whisper's own limit."""
_REPEATED = 6
"""Segments in a row with the same text, which nobody says so often."""
_NOT_UNDERSTOOD, _NO_SPEECH = -1.0, 0.6
_UNCERTAIN = -0.5


def gated(segments: Sequence[TranscriptSegment]) -> tuple[list[TranscriptSegment], list[DroppedSpan]]:
    """Returns the segments of one piece that are kept, and those that are dropped. They are judged if they have times
    and the measures of Whisper, for which the limits are.
    """
    kept: list[TranscriptSegment] = []
    dropped: list[DroppedSpan] = []
    repeated = set(_repeated([each.text for each in segments]))
    for index, each in enumerate(segments):
        reason = None
        if each.log_probability is not None and each.no_speech is not None:
            reason = "repetition" if index in repeated else _reason(each.text, each.log_probability, each.no_speech)
        if reason is not None and each.start is not None and each.end is not None:
            dropped.append(DroppedSpan(each.start, each.end, reason))
        elif each.text:
            kept.append(each)
    return kept, dropped


def _reason(text: str, log_probability: float, no_speech: float) -> DropReason | None:
    # Not the ratio of faster-whisper: it is of all segments of a piece, in which a speaker may repeat a sentence.
    data = text.encode()
    if len(data) / len(zlib.compress(data)) > _REPETITION:
        return "repetition"
    if no_speech > _NO_SPEECH and log_probability < _UNCERTAIN:
        return "no speech"
    return "not understood" if log_probability < _NOT_UNDERSTOOD else None


def _repeated(texts: Sequence[str]) -> Iterator[int]:
    """Yields the indices of texts that are in a row of equal ones."""
    for _, group in groupby(range(len(texts)), key=lambda index: texts[index].strip().lower()):
        row = list(group)
        if len(row) >= _REPEATED:
            yield from row
