"""Hypothesis strategies: replies, responses with their attempts and media decisions, token counts and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import cast, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    FINISH_REASONS,
    METERS,
    AttemptRecord,
    Billing,
    CallWarning,
    CostSource,
    GenerateResponse,
    JSONValue,
    MediaAnchor,
    MediaDecision,
    MediaKind,
    MediaLoss,
    MediaRoute,
    MediaSent,
    ModelReply,
    Part,
    ProviderOptions,
    ReasoningPart,
    SeparateUsage,
    Usage,
    freeze,
)
from .call import parts_with_calls, parts_with_options, placed_options
from .part import JSON, NAME, OBJECT, TEXT, numbers, reply_parts, tuples

COST_SOURCES: tuple[CostSource, ...] = get_args(CostSource)


def dollars() -> SearchStrategy[Decimal]:
    """Costs, in millionths of a dollar."""
    return st.integers(0, 10**9).map(lambda number: Decimal(number).scaleb(-6))


def billings() -> SearchStrategy[Billing]:
    """What responses report about their price."""
    word = st.none() | NAME
    counts = st.dictionaries(st.sampled_from(sorted(METERS)), st.integers(0, 10**9), max_size=3)
    count = st.none() | st.integers(0, 10**9)
    separate = st.builds(SeparateUsage, word, count, count, count, count, counts)
    return st.builds(Billing, st.none() | dollars(), word, word, counts, tuples(separate, 2))


def usages() -> SearchStrategy[Usage]:
    """Token counts, some not reported."""
    count = st.none() | st.integers(0, 10**9)
    return st.builds(Usage, count, count, count, count, count, count, count, st.none() | billings())


def replies(
    provider: str = "scripted",
    others: SearchStrategy[Part] | None = None,
    options: SearchStrategy[ProviderOptions] | None = None,
) -> SearchStrategy[ModelReply]:
    """Replies of `provider` with reasoning of that provider. `others` are the parts besides tool calls.

    Without `options`, the parts have no provider options.
    """
    drawn = st.builds(
        ModelReply,
        parts=parts_with_calls(reply_parts() if others is None else others).map(_without_cache),
        finish_reason=st.sampled_from(FINISH_REASONS),
        raw_finish_reason=st.none() | NAME,
        usage=usages(),
        model=st.none() | NAME,
        provider=st.just(provider),
        id=st.none() | NAME,
        provider_metadata=OBJECT,
    )
    owned = drawn.map(_with_origin)
    return owned if options is None else st.builds(_reply_with_options, owned, placed_options(options))


def _reply_with_options(reply: ModelReply, placed: Sequence[tuple[int, ProviderOptions]]) -> ModelReply:
    some = reply.parts
    for number, options in placed:
        some = parts_with_options(some, number % len(some), options) if some else some
    return replace(reply, parts=some)


def _without_cache(some: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, cache=None) if getattr(part, "cache", None) else part for part in some)


def _with_origin(reply: ModelReply) -> ModelReply:
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(owned))


def call_warnings() -> SearchStrategy[CallWarning]:
    """Warnings."""
    return st.builds(CallWarning, NAME, NAME, TEXT, JSON, JSON)


_KINDS: tuple[MediaKind, ...] = get_args(MediaKind)
_ROUTES: tuple[MediaRoute, ...] = get_args(MediaRoute)


def attempt_records() -> SearchStrategy[AttemptRecord]:
    """Attempt records."""
    counts = st.integers(0, 10**6)
    return st.builds(
        AttemptRecord,
        counts,
        numbers(),
        numbers(),
        st.none() | counts,
        st.none() | NAME,
        cost=st.none() | dollars(),
        estimated_cost=st.none() | dollars(),
        seconds_waited=numbers(),
    )


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
