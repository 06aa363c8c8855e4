"""Calls of several rounds from a cassette: the same answer, order, tokens and cost, in all four ways."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Price,
    ReplayMismatchError,
    Suspend,
    ToolEnded,
    ToolPolicy,
    create_llm,
    record,
    replay,
    tool,
)
from tests.core.tools.loops import WAYS, Way, calls

WRITTEN_CALL = '<tool_call>\n{"name": "pay", "arguments": {"to": "Ann"}}\n</tool_call>'


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """One of the four ways."""
    with Way.of(request.param) as way:
        yield way


@tool
def pay(to: str) -> str:
    """Pays."""
    return f"paid {to}"


def scripted(recording: Any, replies: Any = (), **options: Any) -> LLM:
    return create_llm("scripted", replies=replies, middleware=[recording], price=Price(input=1, output=10), **options)


def facts(response: Any) -> list[Any]:
    """What a replay must repeat."""
    steps = [(step.call, step.result, step.round, step.outcome) for step in response.tool_steps]
    counted = (response.usage, response.cost, response.cost_source, len(response.attempts))
    said = (response.content, response.output, response.steps, response.output_attempts, response.warnings)
    return [steps, counted, said, response.loop and response.loop.status]


@pytest.mark.parametrize(
    ("replies", "request_", "options"),
    [
        ([calls(("pay", {"to": "Ann"}), ("pay", {"to": "Bob"})), calls(("pay", {"to": "Cy"})), "Done."], {}, {}),
        ([calls(("pay", {"to": "Ann"})), "none", "[1]"], {"response_model": list[int]}, {}),
        ([WRITTEN_CALL, WRITTEN_CALL, "Done."], {}, {"facts": {"tools": "never"}}),
    ],
    ids=["tools", "output-retry", "prompted-tools"],
)
def test_rounds_are_replayed(way: Way, path: Path, replies: Any, request_: Any, options: Any):
    request_ = {"tools": [pay], "run_tools": True, **request_}
    first = way.generate(scripted(record(path), replies, **options), **request_)
    recording = replay(path)
    second = way.generate(scripted(recording, **options), **request_)
    assert facts(second) == facts(first)
    assert (len(first.steps), list(recording.unused)) == (3, [])


def test_corrected_answer_is_replayed_without_tools(way: Way, path: Path):
    first = way.generate(scripted(record(path), ["none", "[1]"]), response_model=list[int])
    second = way.generate(scripted(replay(path)), response_model=list[int])
    assert facts(second) == facts(first)
    assert second.output == [1]


def test_suspended_loop_is_replayed_and_resumed(way: Way, path: Path):
    policy = ToolPolicy(approve=lambda pending: Suspend() if pending.call.arguments == {"to": "Bob"} else True)

    def loop(llm: LLM) -> Any:
        found = way.generate(llm, tools=[pay], run_tools=policy).loop
        assert found is not None
        assert [each.call.arguments for each in found.pending] == [{"to": "Bob"}]
        return way.resume(llm, found, [each.allow() for each in found.pending], tools=[pay], run_tools=policy)

    replies = [calls(("pay", {"to": "Ann"}), ("pay", {"to": "Bob"})), "Done."]
    first = loop(scripted(record(path), replies))
    recording = replay(path)
    assert facts(loop(scripted(recording))) == facts(first)
    assert not recording.unused


def test_other_result_of_a_tool_is_a_mismatch_that_shows_it(way: Way, path: Path):
    numbers = count(1)

    @tool
    def clock() -> str:
        """Returns the time."""
        return f"{next(numbers)} o'clock"

    way.generate(scripted(record(path), [calls(("clock", {})), "Late."]), tools=[clock], run_tools=True)
    caught: Any
    with pytest.raises(ReplayMismatchError) as caught:
        way.generate(scripted(replay(path)), tools=[clock], run_tools=True)
    assert "1 o'clock" in caught.value.message
    assert "2 o'clock" in caught.value.message
    assert caught.value.loop.status == "failed"


def test_stream_left_in_a_loop_is_replayed_as_far_as_it_was_read(path: Path):
    def left(llm: LLM) -> Any:
        with llm.stream("Go.", tools=[pay], run_tools=True) as stream:
            next(event for event in stream if isinstance(event, ToolEnded))
        return stream.loop and [(step.call.id, step.outcome) for step in stream.loop.steps]

    replies = [calls(("pay", {"to": "Ann"})), "Done."]
    assert left(scripted(record(path), replies)) == left(scripted(replay(path))) == [("call_0_0", "done")]
