"""How a loop ends while its tools run: closed streams, Ctrl-C, cancellation, failures of other tools."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abstractcore import (
    StreamInterruptedError,
    ToolEnded,
    ToolError,
    ToolLoop,
    ToolPolicy,
    ToolStarted,
    create_llm,
    tool,
)
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.tools.loops import Way, calls, scripted


class Hanging:
    """Tools that hang until the end of the test, and note how they end."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.release = threading.Event()
        self.cancelled = threading.Semaphore(0)

    def plain(self) -> str:
        """Hangs."""
        self.begun.release()
        self.release.wait(PATIENCE_SECONDS)
        return "released"

    async def asynchronous(self) -> str:
        """Hangs."""
        self.begun.release()
        try:
            await asyncio.wait_for(asyncio.Event().wait(), PATIENCE_SECONDS)
        except asyncio.CancelledError:
            self.cancelled.release()
            raise
        return "released"


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """Tools that hang at most until the end of the test."""
    hanging = Hanging()
    yield hanging
    hanging.release.set()


def begun(hanging: Hanging, count: int) -> None:
    for _ in range(count):
        assert hanging.begun.acquire(timeout=PATIENCE_SECONDS)


def in_thread(function: Callable[[], object]) -> None:
    threading.Thread(target=function, daemon=True).start()


def texts(loop: ToolLoop) -> list[str]:
    return [step.result.as_text for step in loop.steps]


def is_sendable(loop: ToolLoop) -> bool:
    """Whether each call of the latest reply has a result."""
    return not loop.open_calls and loop.messages[-1].role == "tool"


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_closing_a_stream_from_another_thread_ends_a_read_that_waits_for_tools(hanging: Hanging, kind: str, count: int):
    given: list[tuple[str, dict[str, Any]]] = [(kind, {})] * count
    llm = scripted(calls(*given), "Done.")
    stream = llm.stream("Go.", tools=[getattr(hanging, kind)], run_tools=True)

    def close() -> None:
        begun(hanging, count)
        stream.close()

    in_thread(close)
    with pytest.raises(StreamInterruptedError, match="closed while it was read") as caught:
        list(stream)
    loop: Any = getattr(caught.value, "loop", None)
    assert texts(loop) == ["interrupted: cancelled while it ran; it may have taken effect"] * count
    assert (loop.status, is_sendable(loop)) == ("cancelled", True)
    if kind == "asynchronous":
        for _ in range(count):
            assert hanging.cancelled.acquire(timeout=PATIENCE_SECONDS)


def test_no_tool_is_started_after_a_stream_was_closed(streamed_way: Way, hanging: Hanging):
    ran: list[str] = []

    @tool(parallel=False)
    def later() -> str:
        """Runs after the first."""
        ran.append("later")
        return "ran"

    first = tool(parallel=False, name="first")(hanging.plain)
    llm = scripted(calls(("first", {}), ("later", {})), "Done.")
    ended: list[ToolEnded] = []

    def note(event: object) -> None:
        if isinstance(event, ToolEnded):
            ended.append(event)

    before = set(threading.enumerate())
    stream = streamed_way.style.stream(llm, "Go.", tools=[first, later], run_tools=ToolPolicy(on_event=note))
    for event in stream:
        if isinstance(event, ToolStarted):
            break
    begun(hanging, 1)
    stream.close()
    loop: Any = stream.loop
    hanging.release.set()
    for thread in set(threading.enumerate()) - before:
        if thread.name != "abstractcore-function":  # those are kept for further work
            thread.join(PATIENCE_SECONDS)
    assert (ran, ended) == ([], [])
    assert texts(loop) == ["interrupted: cancelled while it ran; it may have taken effect", "not run: cancelled"]
    assert (stream.loop, loop.status) == (loop, "cancelled")


@pytest.mark.parametrize("streamed", [False, True])
def test_ctrl_c_cancels_all_async_tools_and_starts_no_others(ctrl_c: Any, hanging: Hanging, streamed: bool):
    count = 20  # more than run at once
    given: list[tuple[str, dict[str, Any]]] = [("asynchronous", {})] * count
    llm = scripted(calls(*given), "Done.")
    started: list[str] = []

    def note(event: object) -> None:
        if isinstance(event, ToolStarted):
            started.append(event.call.id)

    request: dict[str, Any] = {"tools": [hanging.asynchronous], "run_tools": ToolPolicy(on_event=note)}
    ctrl_c(lambda: hanging.begun.acquire(timeout=PATIENCE_SECONDS))
    with pytest.raises(KeyboardInterrupt) as caught:
        if streamed:
            list(llm.stream("Go.", **request))
        else:
            llm.generate("Go.", **request)
    loop: Any = getattr(caught.value, "loop", None)
    assert (loop.status, is_sendable(loop), len(loop.steps)) == ("cancelled", True, count)
    assert hanging.cancelled.acquire(timeout=PATIENCE_SECONDS)
    while hanging.begun.acquire(blocking=False):
        assert hanging.cancelled.acquire(timeout=PATIENCE_SECONDS)
    assert len(started) < count


def test_tools_after_one_that_ends_the_call_are_not_run(way: Way):
    ran: list[str] = []

    @tool(on_error="raise", parallel=False)
    def fails() -> str:
        """Fails."""
        raise ValueError("no")

    @tool(parallel=False)
    def later() -> str:
        """Runs after the first."""
        ran.append("later")
        return "ran"

    llm = scripted(calls(("fails", {}), ("later", {})), "Done.")
    with pytest.raises(ToolError) as caught:
        way.generate(llm, tools=[fails, later], run_tools=True)
    loop: Any = getattr(caught.value, "loop", None)
    assert ran == []
    assert texts(loop)[1] == "not run: the call ended with an error"
    assert is_sendable(loop)


def test_a_tool_that_cancels_itself_has_failed(way: Way):
    async def cancels_itself() -> str:
        """Awaits a task that it has cancelled."""
        task = asyncio.ensure_future(asyncio.Event().wait())
        task.cancel()
        await task
        return "never"

    llm = scripted(calls(("cancels_itself", {})), "Done.")
    response = way.generate(llm, tools=[cancels_itself], run_tools=True)
    assert response.tool_steps[0].outcome == "failed"
    assert "raised CancelledError" in response.tool_steps[0].result.as_text


def test_a_failure_that_nobody_reads_is_not_logged_by_the_event_loop(caplog: pytest.LogCaptureFixture):
    async def fails() -> str:
        """Fails."""
        raise ValueError("no")

    async def main() -> None:
        llm = scripted(calls(("fails", {})), "Done.")
        failing = tool(on_error="raise")(fails)
        ended = asyncio.Event()
        policy = ToolPolicy(on_event=lambda event: ended.set() if isinstance(event, ToolEnded) else None)
        async with llm.astream("Go.", tools=[failing], run_tools=policy) as stream:
            async for event in stream:
                if isinstance(event, ToolStarted):
                    break
            await ended.wait()
            for _ in range(10):
                await asyncio.sleep(0)

    asyncio.run(main())
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_cancelling_a_task_that_closes_a_stream_is_not_swallowed(hanging: Hanging):
    async def stubborn() -> str:
        """Goes on for a while after it was cancelled."""
        hanging.begun.release()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.1)
        return "late"

    async def main() -> bool:
        llm = create_llm("scripted", replies=[calls(("stubborn", {})), "Done."])
        stream = llm.astream("Go.", tools=[stubborn], run_tools=True)
        async for event in stream:
            if isinstance(event, ToolStarted):
                break
        await asyncio.to_thread(begun, hanging, 1)
        closing = asyncio.ensure_future(stream.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        return True

    assert asyncio.run(main())
