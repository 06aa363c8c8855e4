"""Users' functions, sync and async, in both runtimes: results, context, timeouts, abandoned functions."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import queue
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from abstractcore import ConfigurationError
from abstractcore.concurrency import AsyncRuntime, SyncRuntime, drive, workers
from abstractcore.concurrency.functions import is_async
from tests.chaos_server import PATIENCE_SECONDS

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
SHORT_SECONDS = 0.05


def plain(number: int) -> int:
    return number + 1


async def asynchronous(number: int) -> int:
    await asyncio.sleep(0)
    return number + 1


def gives_awaitable(number: int):
    return asynchronous(number)


class CalledAsync:
    async def __call__(self, number: int) -> int:
        return await asynchronous(number)


FUNCTIONS = {
    "plain": plain,
    "async": asynchronous,
    "awaitable": gives_awaitable,
    "object": CalledAsync(),
    "partial": functools.partial(asynchronous),
    "partial-of-object": functools.partial(CalledAsync()),
}


@pytest.fixture
def runtime(call_style):
    """The call style's runtime, with nothing running on after the test."""
    yield call_style.runtime
    wait_until(lambda: call_style.runtime.abandoned == 0)


def wait_until(condition) -> None:
    """Polls a condition that has no event."""
    waited = threading.Event()
    for _ in range(1000):
        if condition():
            return
        waited.wait(PATIENCE_SECONDS / 1000)
    raise AssertionError("the condition was never met")


@pytest.fixture
def release():
    """An event that is set at the test's end at the latest."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("timeout", [None, PATIENCE_SECONDS])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_result_of_any_kind_of_function_is_returned(call_style, runtime, function, timeout):
    assert call_style.run(runtime.invoke(function, 41, timeout=timeout)) == 42


def test_partial_of_an_async_object_counts_as_async():
    assert is_async(functools.partial(CalledAsync(), 1))
    assert not is_async(functools.partial(plain, 1))


@pytest.mark.parametrize("timeout", [None, PATIENCE_SECONDS])
@pytest.mark.parametrize("error", [ZeroDivisionError, TimeoutError, queue.Empty, SystemExit, KeyboardInterrupt])
def test_exception_of_a_function_is_unchanged(call_style, runtime, error, timeout):
    def fail() -> None:
        raise error("mine")

    async def afail() -> None:
        fail()

    for function in (fail, afail):
        if call_style.name == "async" and function is afail and not issubclass(error, Exception):
            continue  # an event loop ends at once then, whoever awaits
        with pytest.raises(error, match="mine"):
            call_style.run(runtime.invoke(function, timeout=timeout))
    assert call_style.run(runtime.invoke(asynchronous, 1)) == 2


@pytest.mark.parametrize("timeout", [None, PATIENCE_SECONDS])
def test_stray_stop_iteration_is_an_error_and_does_not_hang(call_style, runtime, timeout):
    with pytest.raises(RuntimeError, match="StopIteration"):
        call_style.run(runtime.invoke(lambda: next(iter([])), timeout=timeout))


@pytest.mark.parametrize("function", ["plain", "async"])
def test_function_runs_in_the_callers_context(call_style, runtime, function):
    async def alook() -> str:
        return VARIABLE.get()

    async def main() -> list[str]:
        VARIABLE.set("mine")
        look = VARIABLE.get if function == "plain" else alook
        return [await runtime.invoke(look, timeout=timeout) for timeout in (None, PATIENCE_SECONDS)]

    assert contextvars.copy_context().run(call_style.run, main()) == ["mine", "mine"]


def test_sync_function_past_its_timeout_is_abandoned_counted_and_logged(call_style, runtime, release, caplog):
    ended = threading.Event()

    def slow() -> None:
        release.wait(PATIENCE_SECONDS)
        ended.set()

    with pytest.raises(TimeoutError, match=r"slow did not finish in 0\.05 s"):
        call_style.run(runtime.invoke(slow, timeout=SHORT_SECONDS))
    assert runtime.abandoned == 1
    assert [(record.levelno, record.name) for record in caplog.records] == [(logging.WARNING, "abstractcore")]
    assert "slow is still running" in caplog.text
    assert "1 such now" in caplog.text
    assert not ended.is_set()
    release.set()
    assert ended.wait(PATIENCE_SECONDS)
    wait_until(lambda: runtime.abandoned == 0)


def test_async_function_past_its_timeout_is_cancelled_and_awaited(call_style, runtime):
    ended = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    with pytest.raises(TimeoutError, match=r"slow did not finish in 0\.05 s"):
        call_style.run(runtime.invoke(slow, timeout=SHORT_SECONDS))
    assert ended == [True]
    assert runtime.abandoned == 0


def test_awaitable_result_gets_the_remaining_time(call_style, runtime):
    def slow():
        return asyncio.Event().wait()

    with pytest.raises(TimeoutError, match="slow did not finish"):
        call_style.run(runtime.invoke(slow, timeout=SHORT_SECONDS))


def test_function_that_ends_in_time_leaves_no_thread(call_style, runtime, monkeypatch):
    monkeypatch.setattr(workers, "_IDLE_SECONDS", 0.0)
    before = {*threading.enumerate()}
    for _ in range(5):
        call_style.run(runtime.invoke(plain, 1, timeout=PATIENCE_SECONDS))
    wait_until(lambda: {*threading.enumerate()} <= before)
    assert runtime.abandoned == 0


# Plain code.


def test_sync_runtime_runs_sync_functions_inline_unless_they_have_a_timeout():
    runtime = SyncRuntime()
    assert drive(runtime.invoke(threading.current_thread)) is threading.current_thread()
    assert drive(runtime.invoke(threading.current_thread, timeout=PATIENCE_SECONDS)).daemon


def test_sync_runtime_runs_async_functions_in_one_daemon_thread():
    async def where() -> threading.Thread:
        return threading.current_thread()

    runtime = SyncRuntime()
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: drive(runtime.invoke(where)), range(40)))
    assert len(found) == 1
    assert found.pop().daemon


def test_async_functions_of_several_threads_run_concurrently():
    """Each of the two waits for the other."""
    runtime = SyncRuntime()
    arrived: list[asyncio.Future] = []

    async def meet() -> int:
        arrived.append(asyncio.get_running_loop().create_future())
        if len(arrived) == 2:
            for each in arrived:
                each.set_result(None)
        await arrived[-1]
        return len(arrived)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: drive(runtime.invoke(meet)), range(2))) == [2, 2]


def test_async_function_that_ignores_cancellation_is_abandoned(call_style, release, monkeypatch):
    for module in ("portal", "asynchronous"):
        monkeypatch.setattr(f"abstractcore.concurrency.{module}._CLEANING_UP_SECONDS", SHORT_SECONDS)
    runtime = call_style.runtime

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    with pytest.raises(TimeoutError, match="stubborn did not finish"):
        call_style.run(runtime.invoke(stubborn, timeout=SHORT_SECONDS))
    assert runtime.abandoned == 1
    release.set()
    call_style.run(runtime.invoke(wait_until, lambda: runtime.abandoned == 0))


@pytest.mark.parametrize("timeout", [None, PATIENCE_SECONDS])
def test_function_that_raises_cancellation_by_itself_has_failed(call_style, timeout):
    async def cancels_its_own_task() -> None:
        task = asyncio.ensure_future(asyncio.Event().wait())
        task.cancel()
        await task

    with pytest.raises(RuntimeError, match="cancels_its_own_task raised CancelledError, but was not cancelled"):
        call_style.run(call_style.runtime.invoke(cancels_its_own_task, timeout=timeout))


def test_event_loop_ends_with_its_runtime():
    async def where() -> threading.Thread:
        return threading.current_thread()

    thread = drive(SyncRuntime().invoke(where))
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()


def test_event_loop_that_cannot_start_is_an_error_and_is_retried(monkeypatch):
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    runtime = SyncRuntime()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            drive(runtime.invoke(asynchronous, 1))
    assert drive(runtime.invoke(asynchronous, 1)) == 2


def test_closed_runtime_cancels_its_functions_and_can_be_reused():
    begun = threading.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    runtime = SyncRuntime()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(drive, runtime.invoke(hang))
        assert begun.wait(PATIENCE_SECONDS)
        runtime.close()
        with pytest.raises(CancelledError):
            waiting.result(PATIENCE_SECONDS)
    assert drive(runtime.invoke(asynchronous, 1)) == 2


# Waiting for oneself.


def test_nested_sync_call_in_async_code_is_an_error_with_a_hint():
    runtime = SyncRuntime()

    async def outer() -> None:
        drive(runtime.invoke(asynchronous, 1))

    with pytest.raises(ConfigurationError, match=r"asynchronous would wait forever.*await llm\.agenerate"):
        drive(runtime.invoke(outer))


def test_deadlock_through_another_runtime_is_detected():
    first, second = SyncRuntime(), SyncRuntime()

    async def outer() -> None:
        drive(second.invoke(inner))

    async def inner() -> None:
        drive(first.invoke(asynchronous, 1))

    with pytest.raises(ConfigurationError, match="asynchronous would wait forever"):
        drive(first.invoke(outer))


def test_deadlock_through_a_thread_is_detected():
    runtime = SyncRuntime()

    def plain_one() -> None:
        drive(runtime.invoke(asynchronous, 1))

    async def in_thread() -> None:
        drive(runtime.invoke(plain_one, timeout=PATIENCE_SECONDS))

    async def in_several() -> None:
        drive(runtime.gather(lambda: runtime.invoke(plain_one), lambda: runtime.invoke(plain_one)))

    for outer in (in_thread, in_several):
        with pytest.raises(ConfigurationError, match="asynchronous would wait forever"):
            drive(runtime.invoke(outer))


def test_async_function_that_does_not_block_may_nest_calls():
    runtime = SyncRuntime()

    async def outer() -> int:
        return await asyncio.to_thread(drive, runtime.invoke(asynchronous, 1))

    assert drive(runtime.invoke(outer)) == 2


def test_finished_wait_blocks_nothing():
    """A task begun below a wait keeps its context when the wait has ended."""
    first, second = SyncRuntime(), SyncRuntime()
    ended = threading.Event()
    later: list[asyncio.Task] = []

    async def outer() -> None:
        drive(second.invoke(begin))

    async def begin() -> None:
        later.append(asyncio.ensure_future(asyncio.to_thread(go_on)))

    def go_on() -> int:
        ended.wait(PATIENCE_SECONDS)
        return drive(first.invoke(asynchronous, 1))

    async def result() -> int:
        return await later[0]

    drive(first.invoke(outer))
    ended.set()
    assert drive(second.invoke(result)) == 2


# Event loops.


def test_async_runtime_runs_async_functions_without_timeout_in_its_task_and_sync_ones_in_a_thread():
    async def main() -> None:
        async def where() -> object:
            return asyncio.current_task()

        assert await AsyncRuntime().invoke(where) is asyncio.current_task()
        assert await AsyncRuntime().invoke(threading.current_thread) is not threading.current_thread()

    asyncio.run(main())


def test_cancelled_caller_abandons_a_sync_function_without_blocking_the_loop(release, caplog):
    runtime = AsyncRuntime()
    begun = threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(PATIENCE_SECONDS)

    async def main() -> None:
        task = asyncio.ensure_future(runtime.invoke(slow))
        await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert runtime.abandoned == 1
    assert "slow is still running" in caplog.text
    release.set()
    wait_until(lambda: runtime.abandoned == 0)
