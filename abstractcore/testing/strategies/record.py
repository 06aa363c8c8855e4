"""Hypothesis strategies: records of calls, errors of providers, transcripts, and streams of deltas."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from ...schema import (
    TOOL_OUTCOMES,
    ApprovalDecision,
    ApprovalSource,
    CallRecord,
    Delta,
    DroppedSpan,
    DropReason,
    ErrorRecord,
    InteractionKind,
    InteractionRecord,
    LoopStatus,
    ModelReply,
    Outcome,
    ReasoningDelta,
    TextDelta,
    ToolApproval,
    ToolCallDelta,
    ToolRecord,
    ToolSource,
    Transcript,
    TranscriptSegment,
    TranscriptWord,
    deltas_of,
)
from .call import calls
from .part import FLAG, NAME, SOME_TEXT, TEXT, json_objects, numbers, tool_results, tuples
from .reply import COST_SOURCES, attempt_records, call_warnings, dollars, media_decisions, replies, usages

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def call_records() -> SearchStrategy[CallRecord]:
    """Call records."""
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
        error=st.none() | _error_records(),
        tags=st.dictionaries(NAME, TEXT, max_size=1),
        cost_source=st.sampled_from((None, *COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
        input=st.none() | st.dictionaries(NAME, TEXT, max_size=1),
        estimated_cost=st.none() | dollars(),
        discarded=FLAG,
        seconds_waited=numbers(),
    )


def interaction_records() -> SearchStrategy[InteractionRecord]:
    """Records of interactions."""
    return st.builds(
        InteractionRecord,
        trace_id=NAME,
        parent_id=st.none() | NAME,
        kind=st.sampled_from(get_args(InteractionKind)),
        provider=NAME,
        model=NAME,
        outcome=st.sampled_from(_OUTCOMES),
        streamed=FLAG,
        started_at=numbers(),
        seconds=numbers(),
        seconds_to_first=st.none() | numbers(),
        calls=st.integers(0, 10),
        tool_runs=st.integers(0, 10),
        status=st.sampled_from((None, *get_args(LoopStatus))),
        error=st.none() | _error_records(),
        warnings=tuples(call_warnings(), 1),
        tags=st.dictionaries(NAME, TEXT, max_size=1),
    )


def tool_records() -> SearchStrategy[ToolRecord]:
    """Records of tool runs."""
    approvals = st.builds(
        ToolApproval,
        st.sampled_from(get_args(ApprovalDecision)),
        st.sampled_from(get_args(ApprovalSource)),
        st.none() | json_objects(),
    )
    return st.builds(
        ToolRecord,
        trace_id=NAME,
        parent_id=NAME,
        tool=NAME,
        call_id=NAME,
        source=st.sampled_from((None, *get_args(ToolSource))),
        outcome=st.sampled_from(TOOL_OUTCOMES),
        started_at=numbers(),
        seconds=numbers(),
        round=st.integers(0, 3),
        server=st.none() | NAME,
        arguments=st.none() | TEXT | json_objects(),
        result=st.none() | tool_results(),
        approval=st.none() | approvals,
        error=st.none() | _error_records(),
        warnings=tuples(call_warnings(), 1),
        cost=st.none() | dollars(),
        tags=st.dictionaries(NAME, TEXT, max_size=1),
    )


def _error_records() -> SearchStrategy[ErrorRecord]:
    return st.builds(ErrorRecord, NAME, TEXT, st.none() | st.integers(100, 599), st.none() | NAME, FLAG)


PROVIDER_ERRORS: tuple[type[ProviderError], ...] = (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
"""The errors that a provider can report in a response."""


def errors() -> SearchStrategy[ProviderError]:
    """Errors of a provider, with and without `retry_after`."""
    waits = st.none() | st.integers(0, 3600).map(float) | st.floats(0, 3600)
    return st.builds(_failure, st.sampled_from(PROVIDER_ERRORS), SOME_TEXT, waits)


def _failure(kind: type[ProviderError], message: str, wait: float | None) -> ProviderError:
    return kind(message, retry_after=wait)


_TIMES = st.lists(st.floats(0, 10**5), min_size=2, max_size=2).map(sorted)
_SHARES = st.none() | st.floats(0, 1)


def transcripts() -> SearchStrategy[Transcript]:
    """Transcripts."""
    return st.builds(
        Transcript,
        segments=tuples(_segments(), 2),
        dropped=tuples(_TIMES.flatmap(_dropped_span), 2),
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


def _dropped_span(times: list[float]) -> SearchStrategy[DroppedSpan]:
    return st.sampled_from(get_args(DropReason)).map(lambda reason: DroppedSpan(times[0], times[1], reason))


_SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)
"""Sizes of the pieces of a text, in turn. A size of 0 is a piece without text, which streams may have anywhere."""


def deltas(reply: ModelReply) -> SearchStrategy[list[Delta]]:
    """Streams that accumulate to `reply`, with its texts in pieces."""
    return _SIZES.map(lambda sizes: _in_pieces(reply, sizes))


def streams(replies: SearchStrategy[ModelReply]) -> SearchStrategy[tuple[ModelReply, list[Delta]]]:
    """Replies, each with a stream that accumulates to it."""
    return st.builds(_streamed, replies, _SIZES)


def _streamed(reply: ModelReply, sizes: Sequence[int]) -> tuple[ModelReply, list[Delta]]:
    return reply, _in_pieces(reply, sizes)


def _in_pieces(reply: ModelReply, sizes: Sequence[int]) -> list[Delta]:
    stream: list[Delta] = []
    for delta in deltas_of(reply):
        if isinstance(delta, TextDelta | ReasoningDelta):
            stream += [type(delta)(0, delta.block, piece) for piece in _pieces(delta.text, sizes)]
        elif isinstance(delta, ToolCallDelta):
            stream += [ToolCallDelta(0, delta.block, piece) for piece in _pieces(delta.arguments_text, sizes)]
        else:
            stream.append(delta)
    for sequence, delta in enumerate(stream):
        delta.sequence = sequence
    return stream


def _pieces(text: str, sizes: Sequence[int]) -> list[str]:
    pieces: list[str] = []
    for size in cycle(sizes):
        if not text and size:
            return pieces
        pieces.append(text[:size])
        text = text[size:]
    return pieces
