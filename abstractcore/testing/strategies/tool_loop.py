"""Hypothesis strategies: tool loops: their steps, states, answers and journal."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import (
    TOOL_OUTCOMES,
    AllowedCall,
    ErrorRecord,
    InputRequest,
    InputResponse,
    JournalEntry,
    LoopStatus,
    OutputAttempt,
    PendingCall,
    PendingReason,
    Question,
    ToolAnswer,
    ToolLabel,
    ToolLoop,
    ToolStep,
)
from .call import calls, tool_specs
from .part import FLAG, NAME, SOME_TEXT, TEXT, json_objects, json_values, numbers, tool_calls, tool_results, tuples
from .reply import COST_SOURCES, call_warnings, dollars, replies, usages


def tool_steps() -> SearchStrategy[ToolStep]:
    """Handled tool calls."""
    return st.builds(
        ToolStep,
        call=tool_calls(),
        result=tool_results(),
        round=st.integers(0, 3),
        outcome=st.sampled_from(TOOL_OUTCOMES),
        started_at=numbers(),
        seconds=numbers(),
        data=json_values(),
        error=st.none() | st.builds(ErrorRecord, NAME, TEXT),
        traceback=st.none() | TEXT,
        labels=_labels(),
        artifact=st.none() | NAME,
        requested=st.none() | tool_calls(),
        warnings=tuples(call_warnings(), 1),
        final=FLAG,
    )


def tool_answers() -> SearchStrategy[ToolAnswer]:
    """Answers to pending calls."""
    pending = pending_calls()
    return st.one_of(
        pending.map(PendingCall.allow),
        _input_responses().map(lambda response: ToolAnswer("c", "d", "input", input=response)),
        st.builds(PendingCall.deny, pending, TEXT),
        st.builds(PendingCall.edit, pending, json_objects()),
        st.builds(PendingCall.result, pending, SOME_TEXT, is_error=FLAG),
    )


def pending_calls() -> SearchStrategy[PendingCall]:
    """Calls that wait for an answer."""
    reasons = st.sampled_from([reason for reason in get_args(PendingReason) if reason != "input"])
    given = {
        "note": st.none() | TEXT,
        "labels": _labels(),
        "tool": st.none() | tool_specs(),
        "loop": TEXT,
        "round": st.integers(0, 3),
        "attempts": st.integers(0, 3),
        "requested": st.none() | tool_calls(),
    }
    asking = st.builds(PendingCall, tool_calls(), st.just("input"), input=_input_requests(), **given)
    return asking | st.builds(PendingCall, tool_calls(), reasons, **given)


def _input_requests() -> SearchStrategy[InputRequest]:
    question = st.builds(Question, NAME, TEXT, json_objects(), st.none() | TEXT)
    questions = st.lists(question, max_size=2, unique_by=lambda question: question.key)
    return st.builds(InputRequest, questions, json_values())


def _input_responses() -> SearchStrategy[InputResponse]:
    return _input_requests().flatmap(
        lambda request: st.builds(
            InputResponse, st.just(request), st.tuples(*[st.none() | json_objects() for _ in request.questions])
        )
    )


def _allowed_calls() -> SearchStrategy[AllowedCall]:
    return st.builds(AllowedCall, tool_calls(), st.none() | tool_calls(), st.none() | _input_responses())


def _labels() -> SearchStrategy[tuple[ToolLabel, ...]]:
    return tuples(st.sampled_from(get_args(ToolLabel)), 2)


def _output_attempts() -> SearchStrategy[OutputAttempt]:
    """Answers that were not valid, as text and as calls of the output tool."""
    call = st.none() | tool_calls()
    return st.builds(OutputAttempt, st.integers(0, 3), TEXT, TEXT, TEXT, usages(), call)


def tool_loops() -> SearchStrategy[ToolLoop]:
    """States of tool loops."""
    return st.builds(
        ToolLoop,
        id=NAME,
        call=calls(),
        replies=tuples(replies(), 1),
        steps=tuples(tool_steps(), 2),
        output_attempts=tuples(_output_attempts(), 1),
        pending=tuples(pending_calls(), 1),
        status=st.sampled_from(get_args(LoopStatus)),
        found=tuples(NAME, 1),
        usage=usages(),
        cost=st.none() | dollars(),
        cost_source=st.sampled_from((None, *COST_SOURCES)),
        cost_reason=st.none() | TEXT,
        price_rows=tuples(NAME, 2),
        allowed=tuples(_allowed_calls(), 1),
        content_labels=_labels(),
        needs_approval=FLAG,
        requests=st.integers(0, 2),
    )


def journal_entries() -> SearchStrategy[JournalEntry]:
    """Events of tool loops."""
    attempts = st.none() | _output_attempts()
    return st.one_of(
        st.builds(JournalEntry, st.just("start"), loop=tool_loops()),
        st.builds(
            JournalEntry,
            st.just("reply"),
            reply=replies(),
            usage=usages(),
            attempt=attempts,
            cost=st.none() | dollars(),
            cost_source=st.sampled_from((None, *COST_SOURCES)),
            cost_reason=st.none() | TEXT,
            price_rows=tuples(NAME, 1),
        ),
        st.builds(
            JournalEntry,
            st.just("decision"),
            allowed=tuples(_allowed_calls(), 2),
            pending=tuples(pending_calls(), 2),
        ),
        st.builds(JournalEntry, st.just("request"), round=st.integers(0, 3), number=st.integers(1, 3), digest=TEXT),
        st.builds(JournalEntry, st.just("intent"), call=tool_calls()),
        st.builds(JournalEntry, st.just("step"), step=tool_steps()),
        st.builds(JournalEntry, st.just("end"), status=st.sampled_from(get_args(LoopStatus))),
    )
