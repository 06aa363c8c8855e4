"""Events of tools: progress is bounded for slow readers, and nothing is delivered after the end of a call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import (
    StreamInterruptedError,
    ToolCall,
    ToolContext,
    ToolEnded,
    ToolPolicy,
    ToolProgress,
    ToolResult,
    ToolStarted,
    ToolStep,
    tool,
)
from abstractcore.engine.round_stream import MOST_PROGRESS, ToolEventBuffer
from abstractcore.testing import CallStyle
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted

MANY = 5_000


class Reporting:
    """A tool that reports progress once, and then many times without waiting for its reader."""

    def __init__(self) -> None:
        self.has_reported = threading.Event()

    def count(self, context: ToolContext[None]) -> str:
        """Counts."""
        for done in range(1, MANY + 1):
            context.progress(done, MANY)
        self.has_reported.set()
        return "counted"


def test_progress_for_a_slow_reader_is_bounded_and_does_not_block_the_tool(streamed_way: Way):
    reporting, seen = Reporting(), []
    llm = scripted(calls(("count", {})), "Done.")
    stream = streamed_way.style.stream(llm, "Go.", tools=[reporting.count], run_tools=True)
    with stream:
        for event in stream:
            if isinstance(event, ToolProgress) and not reporting.has_reported.is_set():
                assert reporting.has_reported.wait(PATIENCE_SECONDS)
            seen.append(event)
    progress = [event for event in seen if isinstance(event, ToolProgress)]
    assert len(progress) + sum(event.dropped for event in progress) == MANY
    assert progress[-1].done == MANY
    assert [event.done for event in progress] == sorted(event.done for event in progress)
    # The reader waits after its first batch, so that the tool has filled at most two of them.
    assert len(progress) <= 2 * MOST_PROGRESS
    assert [type(event) for event in seen if isinstance(event, ToolStarted | ToolEnded)] == [ToolStarted, ToolEnded]


def test_events_of_progress_say_how_many_were_left_out_before_them():
    first, second = ToolCall.of("a", "f", {}), ToolCall.of("b", "f", {})
    buffer, wakes = ToolEventBuffer(), []
    step = ToolStep(first, ToolResult.text("a", "done"), 0, "done")

    async def run(put: Callable[[Any], object]) -> None:
        for number in range(MOST_PROGRESS + 3):
            put(ToolProgress(first, number))
        put(ToolProgress(second, 1))
        put(ToolEnded(step))
        put(ToolProgress(first, 1000))  # too late
        begun = buffer.take()
        assert [event.dropped for event in begun if event.type == "tool_progress"] == [3] + [0] * MOST_PROGRESS
        assert (begun[0].done, begun[-1]) == (3, ToolEnded(step))
        assert len(wakes) == 1
        put(ToolStarted(second, 0))

    with pytest.raises(StopIteration):
        buffer.fill(wakes.append, run).send(None)
    assert (buffer.take(), len(wakes)) == ([ToolStarted(second, 0)], 2)


def test_events_that_are_put_after_the_end_are_ignored():
    call, puts = ToolCall.of("a", "f", {}), []
    buffer = ToolEventBuffer()

    async def run(put: Callable[[Any], object]) -> None:
        puts.append(put)

    with pytest.raises(StopIteration):
        buffer.fill(lambda _: None, run).send(None)
    puts[0](ToolStarted(call, 0))
    assert buffer.take() == []


class RunsOn:
    """A tool that runs on after its call has ended, and then reports progress; `events` are those that arrived."""

    def __init__(self) -> None:
        self.begun, self.release, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None
        self.events: list[Any] = []

    def late(self, context: ToolContext[None]) -> str:
        """Reports progress before and after the end of its call."""
        self.thread = threading.current_thread()
        context.progress(1)
        self.begun.set()
        self.release.wait(PATIENCE_SECONDS)
        context.progress(2)
        self.ended.set()
        return "late"

    def policy(self) -> ToolPolicy:
        """A policy without a time limit, which notes all events."""
        return ToolPolicy(timeout=None, on_event=self.events.append)

    def events_after_the_end(self) -> list[Any]:
        """Lets the tool end after its call, and returns the events since then."""
        self.events.clear()
        self.release.set()
        assert self.ended.wait(PATIENCE_SECONDS)
        assert self.thread is not None
        if self.thread.name != "abstractcore-function":  # that one is kept for further work
            self.thread.join(PATIENCE_SECONDS)
        return self.events


@pytest.fixture
def runs_on():
    """The tool; it runs no longer than the test."""
    runs_on = RunsOn()
    yield runs_on
    runs_on.release.set()


@pytest.mark.parametrize("streamed", [False, True])
def test_tool_that_outlives_a_call_ended_by_ctrl_c_delivers_no_events(ctrl_c: Any, runs_on: RunsOn, streamed: bool):
    llm = scripted(calls(("late", {})), "Done.")
    request: dict[str, Any] = {"tools": [runs_on.late], "run_tools": runs_on.policy()}
    ctrl_c(runs_on.begun.is_set)
    with pytest.raises(KeyboardInterrupt):
        if streamed:
            list(llm.stream("Go.", **request))
        else:
            llm.generate("Go.", **request)
    assert runs_on.events_after_the_end() == []


@pytest.mark.parametrize("streamed", [False, True])
def test_tool_that_outlives_a_cancelled_call_delivers_no_events(runs_on: RunsOn, streamed: bool):
    llm = scripted(calls(("late", {})), "Done.")
    request: dict[str, Any] = {"tools": [runs_on.late], "run_tools": runs_on.policy()}

    async def read() -> None:
        if streamed:
            async with llm.astream("Go.", **request) as stream:
                assert [event async for event in stream] == []
        else:
            await llm.agenerate("Go.", **request)

    async def main() -> None:
        task = asyncio.create_task(read())
        assert await asyncio.to_thread(runs_on.begun.wait, PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(runs_on.events_after_the_end) == []

    asyncio.run(main())


def test_tool_that_outlives_its_time_limit_delivers_no_events(way: Way, runs_on: RunsOn):
    @tool
    def release() -> str:
        """Lets the other tool go on, and waits for its end."""
        runs_on.release.set()
        assert runs_on.ended.wait(PATIENCE_SECONDS)
        return "released"

    late = tool(timeout=0.5)(runs_on.late)
    llm = scripted(calls(("late", {})), calls(("release", {})), "Done.")
    response = way.generate(llm, tools=[late, release], run_tools=runs_on.policy())
    assert [step.outcome for step in response.tool_steps] == ["timed_out", "done"]
    assert [
        event for event in (*runs_on.events, *way.events) if isinstance(event, ToolProgress) and event.done == 2
    ] == []


def test_tool_that_outlives_a_closed_stream_delivers_no_events(call_style: CallStyle, runs_on: RunsOn):
    llm = scripted(calls(("late", {})), "Done.")
    stream = call_style.stream(llm, "Go.", tools=[runs_on.late], run_tools=runs_on.policy(), timeout=None)
    for event in stream:
        if isinstance(event, ToolProgress):
            break
    assert runs_on.begun.wait(PATIENCE_SECONDS)
    stream.close()
    assert runs_on.events_after_the_end() == []
    with pytest.raises(StreamInterruptedError):
        next(iter(stream))
