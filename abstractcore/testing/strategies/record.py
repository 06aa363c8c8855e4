"""Hypothesis strategies: records of calls."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import CallRecord, ErrorRecord, Outcome
from .call import calls
from .part import FLAG, NAME, TEXT, numbers, tuples
from .reply import replies
from .response import attempt_records, media_decisions
from .usage import COST_SOURCES, dollars, usages
from .warning import call_warnings

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def call_records() -> SearchStrategy[CallRecord]:
    """Call records."""
    errors = st.builds(ErrorRecord, NAME, TEXT, st.none() | st.integers(100, 599), st.none() | NAME, FLAG)
    return st.builds(
        CallRecord,
        trace_id=NAME,
        parent_id=st.none() | NAME,
        provider=NAME,
        model=NAME,
        outcome=st.sampled_from(_OUTCOMES),
        streamed=FLAG,
        started_at=numbers(),
        seconds=numbers(),
        seconds_to_first=st.none() | numbers(),
        call_digest=NAME,
        reply_digest=st.none() | NAME,
        call=st.none() | calls(),
        reply=st.none() | replies(),
        attempts=tuples(attempt_records(), 2),
        usage=usages(),
        cost=st.none() | dollars(),
        media=tuples(media_decisions(), 1),
        warnings=tuples(call_warnings(), 1),
        error=st.none() | errors,
        tags=st.dictionaries(NAME, TEXT, max_size=1),
        cost_source=st.sampled_from((None, *COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
        input=st.none() | st.dictionaries(NAME, TEXT, max_size=1),
    )
