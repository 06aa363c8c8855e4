"""One call of a tool: its result, its failures, its time limit."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from abstractcore import ToolCall, ToolContext, ToolError, ToolFailed, ToolRetry, tool
from abstractcore.scrubbing import Secrets
from abstractcore.testing import AsyncCalls
from abstractcore.tools import execute
from tests.core.tools.calls import run_call, run_tool, text_of

NAME = contextvars.ContextVar("name", default="nobody")


@tool
def add(a: int, b: int = 1) -> int:
    """Adds."""
    return a + b


@tool
async def add_later(a: int, b: int = 1) -> int:
    """Adds."""
    await asyncio.sleep(0)
    return a + b


@pytest.mark.parametrize("tool", [add, add_later])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_result_is_a_step(call_style, tool, timeout):
    step = run_tool(call_style, tool, {"a": 2}, timeout=timeout, round=3)
    assert (text_of(step), step.outcome, step.round, step.result.call_id) == ("3", "done", 3, "c1")
    assert not step.failed
    assert step.seconds >= 0
    assert step.started_at > 1.6e9


def test_sync_function_that_returns_an_awaitable_is_awaited(call_style):
    def add(a: int):
        return add_later(a)

    assert text_of(run_tool(call_style, add, {"a": 1})) == "2"


def test_exception_is_its_type_and_message_for_the_model_and_a_traceback_for_the_caller(call_style):
    @tool
    def broken(key: str) -> str:
        return {}[key]

    @tool
    async def broken_later(key: str) -> str:
        return broken(key)

    for each in (broken, broken_later):
        step = run_tool(call_style, each, {"key": "a"})
        assert (text_of(step), step.outcome, step.result.is_error) == ("KeyError: 'a'", "failed", True)
        assert step.error is not None
        assert (step.error.type, step.error.message) == ("KeyError", "'a'")
        assert step.traceback is not None
        assert "return {}[key]" in step.traceback
        assert ("return broken(key)" in step.traceback) == (each is broken_later)
        assert "in guarded" not in step.traceback


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(), TimeoutError("slow"), GeneratorExit()])
def test_exceptions_that_would_end_or_confuse_the_caller_are_results(call_style, error):
    @tool
    def leave() -> None:
        raise error

    step = run_tool(call_style, leave, timeout=60.0)
    assert text_of(step).startswith(type(error).__name__)
    assert step.outcome == "failed"


@pytest.mark.parametrize("error", [SystemExit(3), TimeoutError("slow")])
def test_async_exceptions_that_would_end_or_confuse_the_caller_are_results(call_style, error):
    @tool
    async def leave() -> None:
        raise error

    assert run_tool(call_style, leave, timeout=60.0).outcome == "failed"


def test_ctrl_c_of_a_tool_propagates(call_style):
    @tool
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tool(call_style, interrupt)


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_cancellation_propagates_through_a_tool(timeout):
    style = AsyncCalls()
    has_begun = asyncio.Event()

    async def waits() -> None:
        has_begun.set()
        await asyncio.Event().wait()

    async def cancel() -> None:
        call = ToolCall.of("c1", "waits", {})
        context = ToolContext(deps=None, llm=None, call=call, trace_id="t", runtime=style.runtime)
        task = asyncio.create_task(execute(tool(waits), call, context, style.runtime, timeout=timeout))
        await has_begun.wait()
        task.cancel()
        await task

    with style, pytest.raises(asyncio.CancelledError):
        style.run(cancel())


def test_tool_retry_and_tool_failed_speak_to_the_model(call_style):
    @tool
    def picky(n: int) -> int:
        raise ToolRetry("n must be even", hint="Try 4.") if n == 1 else ToolFailed("the server is down")

    step = run_tool(call_style, picky, {"n": 1})
    assert (text_of(step), step.outcome, step.result.is_error) == ("n must be even. Try 4.", "retry", True)
    step = run_tool(call_style, picky, {"n": 2})
    assert (text_of(step), step.outcome, step.result.is_error) == ("the server is down", "failed", True)
    assert step.traceback is None


def test_on_error_raise_ends_the_call_with_a_tool_error(call_style):
    @tool(on_error="raise")
    def broken() -> None:
        raise KeyError("a")

    with pytest.raises(ToolError, match="the tool 'broken' failed: KeyError: 'a'") as caught:
        run_tool(call_style, broken)
    assert isinstance(caught.value.__cause__, KeyError)


def test_on_error_raise_still_reports_what_the_tool_says_to_the_model(call_style):
    @tool(on_error="raise")
    def picky() -> None:
        raise ToolRetry("differently")

    assert run_tool(call_style, picky).outcome == "retry"


def test_credentials_are_removed_from_messages_and_tracebacks(call_style):
    @tool
    def leaky() -> None:
        raise ValueError("401 for sk-verysecretkey42 " + "x" * 5000)

    step = run_tool(call_style, leaky, secrets=Secrets(["sk-verysecretkey42"]))
    assert "verysecret" not in f"{text_of(step)}{step.error}{step.traceback}"
    assert len(text_of(step)) < 600


def test_messages_that_are_long_or_cannot_be_made_are_bounded(call_style):
    class OddError(Exception):
        def __str__(self) -> str:
            raise SystemExit

    @tool
    def odd() -> None:
        raise OddError

    @tool
    def long() -> None:
        raise ValueError("a b " * 10_000_000)

    assert text_of(run_tool(call_style, odd)) == "OddError"
    step = run_tool(call_style, long)
    assert len(text_of(step)) < 600
    assert len(step.traceback or "") <= 20_000


def test_exception_group_names_its_members(call_style):
    @tool
    async def several() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(add_later.function("a", 1))

    assert "TypeError: can only concatenate" in text_of(run_tool(call_style, several))


def test_sync_tool_past_its_time_limit_is_abandoned_and_counted(call_style, caplog):
    begun, ended = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        ended.wait(60)

    for seconds in (0.01, 1, 30):  # on a busy machine, the thread may begin after the first limit
        step = run_tool(call_style, tool(timeout=seconds)(hang), timeout=1000.0)
        assert (step.outcome, step.result.is_error) == ("timed_out", True)
        assert text_of(step) == f"hang did not finish in {seconds} s: it timed out"
        if begun.is_set():
            break
    assert call_style.runtime.abandoned >= 1
    assert "hang is still running in a background thread" in caplog.text
    ended.set()


def test_async_tool_past_its_time_limit_is_cancelled(call_style):
    cancelled = threading.Event()

    @tool
    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    step = run_tool(call_style, hang, timeout=0.01)
    assert step.outcome == "timed_out"
    assert cancelled.is_set()
    assert call_style.runtime.abandoned == 0


def test_time_limit_of_the_whole_call_is_not_a_result(call_style):
    @tool
    async def hang() -> None:
        await asyncio.sleep(60)

    call = ToolCall("c1", "hang")
    runtime = call_style.runtime
    context = ToolContext(deps=None, llm=None, call=call, trace_id="t", runtime=runtime)
    limits: list[Any] = []

    async def within_a_limit() -> None:
        limits.append(runtime.timeout(0.01))
        async with limits[0]:
            await execute(hang, call, context, runtime, timeout=60.0)

    with pytest.raises(TimeoutError):
        call_style.run(within_a_limit())
    assert limits[0].expired()


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_context_variables_are_visible(call_style, timeout):
    @tool
    def who() -> str:
        return NAME.get()

    @tool
    async def who_later() -> str:
        return NAME.get()

    NAME.set("Ada")
    assert text_of(run_tool(call_style, who, timeout=timeout)) == "Ada"
    assert text_of(run_tool(call_style, who_later, timeout=timeout)) == "Ada"


def test_context_is_given_and_not_in_the_schema(call_style):
    @tool
    def buy(item: str, context: ToolContext[dict[str, int]], count: int = 1) -> str:
        return f"{count} x {item} at {context.deps[item]} for {context.call_id}"

    assert buy.takes_context == "context"
    assert list(buy.spec.parameters["properties"]) == ["item", "count"]  # type: ignore[arg-type]
    assert text_of(run_tool(call_style, buy, {"item": "tea"}, deps={"tea": 3})) == "1 x tea at 3 for c1"


def test_unknown_tool_suggests_a_name(call_style):
    step = run_call(call_style, None, ToolCall("c1", "ad"), known=["add", "weather"])
    assert (step.outcome, text_of(step)) == ("unknown_tool", "there is no tool 'ad'. Did you mean add?")
    step = run_call(call_style, None, ToolCall("c1", "x" * 100_000), known=["add", "weather"])
    assert text_of(step).endswith("The tools are: add, weather.")
    assert len(text_of(step)) < 500


@pytest.mark.parametrize("arguments", ["{", "[1]", "3", '{"a": NaN}', '{"a": "\\ud800"}'])
def test_arguments_that_are_not_json_are_refused(call_style, arguments):
    step = run_call(call_style, add, ToolCall("c1", "add", arguments))
    assert step.outcome == "invalid_arguments"
    assert text_of(step).startswith("the arguments are not a JSON object: ")
