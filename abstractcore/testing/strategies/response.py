"""Hypothesis strategies: responses, with their attempts and media decisions."""

from __future__ import annotations

from typing import cast, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    AttemptRecord,
    GenerateResponse,
    JSONValue,
    MediaAnchor,
    MediaDecision,
    MediaKind,
    MediaLoss,
    MediaRoute,
    MediaSent,
    freeze,
)
from .part import JSON, NAME, TEXT, numbers, tuples
from .reply import replies
from .usage import COST_SOURCES, dollars, usages
from .warning import call_warnings

_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_ROUTES: tuple[MediaRoute, ...] = get_args(MediaRoute)


def attempt_records() -> SearchStrategy[AttemptRecord]:
    """Attempt records."""
    counts = st.integers(0, 10**6)
    return st.builds(AttemptRecord, counts, numbers(), numbers(), st.none() | counts, st.none() | NAME)


def media_decisions() -> SearchStrategy[MediaDecision]:
    """Media decisions."""
    sizes = st.none() | st.integers(0, 2**40)
    parts = tuples(st.builds(MediaSent, NAME, sizes), 2)
    return st.builds(
        MediaDecision,
        part_path=NAME,
        source=TEXT,
        type=NAME,
        kind=st.sampled_from(_KINDS),
        route=st.sampled_from(_ROUTES),
        reason=TEXT,
        handler=st.none() | NAME,
        sent=st.none() | st.builds(MediaSent, NAME, sizes, st.none() | TEXT, parts, tuples(_anchors(), 2)),
        usage=st.none() | usages(),
        outputs=tuples(NAME, 2),
        policy=NAME,
        fallback=st.none() | NAME,
        alternatives=tuples(NAME, 2),
        model=st.none() | NAME,
        seconds=st.none() | numbers(),
        lost=tuples(st.builds(MediaLoss, NAME, numbers(), st.none() | numbers(), tuples(TEXT, 2)), 2),
    )


def _anchors() -> SearchStrategy[MediaAnchor]:
    shares = st.floats(0, 1)
    return st.builds(
        MediaAnchor,
        st.integers(0, 9),
        st.integers(9, 20),
        page=st.none() | st.integers(1, 9),
        box=st.none() | st.tuples(shares, shares, shares, shares),
        sheet=st.none() | NAME,
        seconds=st.none() | st.tuples(shares, shares),
    )


def responses() -> SearchStrategy[GenerateResponse[JSONValue]]:
    """Responses."""
    return st.builds(
        cast("type[GenerateResponse[JSONValue]]", GenerateResponse),
        reply=replies(),
        output=JSON.map(freeze),
        steps=tuples(replies(), 1),
        attempts=tuples(attempt_records(), 2),
        usage=usages(),
        warnings=tuples(call_warnings(), 2),
        media=tuples(media_decisions(), 2),
        provider=NAME,
        model=NAME,
        cost=st.none() | dollars(),
        trace_id=NAME,
        seconds=numbers(),
        cost_source=st.sampled_from((None, *COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
    )
