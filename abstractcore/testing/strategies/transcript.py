"""Hypothesis strategies: transcripts of recordings."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import DroppedSpan, DropReason, Transcript, TranscriptSegment, TranscriptWord
from .part import NAME, TEXT, numbers, tuples

_TIMES = st.lists(st.floats(0, 10**5), min_size=2, max_size=2).map(sorted)
_SHARES = st.none() | st.floats(0, 1)


def transcripts() -> SearchStrategy[Transcript]:
    """Transcripts."""
    return st.builds(
        Transcript,
        segments=tuples(_segments(), 2),
        dropped=tuples(_TIMES.flatmap(_dropped), 2),
        language=st.none() | NAME,
        certainty=_SHARES,
        begin=numbers(),
        seconds=st.none() | numbers(),
        model=st.none() | NAME,
    )


def _segments() -> SearchStrategy[TranscriptSegment]:
    return (st.just([None, None]) | _TIMES).flatmap(
        lambda times: st.builds(
            TranscriptSegment,
            text=TEXT,
            start=st.just(times[0]),
            end=st.just(times[1]),
            words=tuples(st.builds(TranscriptWord, TEXT, speaker=st.none() | NAME, log_probability=_SHARES), 2),
            speaker=st.none() | NAME,
            log_probability=_SHARES,
            no_speech=_SHARES,
        )
    )


def _dropped(times: list[float]) -> SearchStrategy[DroppedSpan]:
    return st.sampled_from(get_args(DropReason)).map(lambda reason: DroppedSpan(times[0], times[1], reason))
