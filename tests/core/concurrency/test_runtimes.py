"""The two runtimes of the engine: the differences between sync and async calls."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import Future
from typing import Any

import pytest

from abstractcore.concurrency import AsyncRuntime, SyncRuntime, drive
from abstractcore.testing import VirtualClock

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def test_drive_returns_the_result_without_an_event_loop():
    async def answer() -> int:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return 42

    assert drive(answer()) == 42


def test_drive_rejects_a_coroutine_that_suspends_with_a_hint():
    ended = []

    async def waits() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            ended.append(True)

    with pytest.raises(RuntimeError, match="use the async API"):
        drive(waits())
    assert ended == [True]


def test_gather_returns_results_in_order(call_style):
    def thunk(number: int):
        async def run() -> int:
            return number

        return run

    for count in (0, 1, 5):
        assert call_style.run(call_style.runtime.gather(*map(thunk, range(count)))) == list(range(count))


def test_gather_runs_concurrently(call_style):
    """Each of the two waits for the other."""
    events = [threading.Event(), threading.Event()]

    def thunk(mine: int):
        def meet() -> bool:
            events[mine].set()
            return events[1 - mine].wait(10)

        return lambda: call_style.runtime.call(meet)

    assert call_style.run(call_style.runtime.gather(thunk(0), thunk(1))) == [True, True]


def test_gather_and_call_copy_the_callers_context(call_style):
    def look() -> str:
        before = VARIABLE.get()
        if threading.current_thread() is not threading.main_thread():
            VARIABLE.set("changed")
        return before

    async def main() -> list[str]:
        VARIABLE.set("mine")
        return await call_style.runtime.gather(*[lambda: call_style.runtime.call(look)] * 3)

    assert contextvars.copy_context().run(call_style.run, main()) == ["mine"] * 3
    assert VARIABLE.get() == "unset"


def test_gather_raises_the_first_failure(call_style):
    async def fail() -> None:
        raise ZeroDivisionError

    async def work() -> None:
        return

    with pytest.raises(ZeroDivisionError):
        call_style.run(call_style.runtime.gather(work, fail, work))


def test_async_gather_cancels_the_others_on_failure_and_waits_for_them():
    ended = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await AsyncRuntime().gather(wait, fail, wait)
        assert ended == [True, True]

    asyncio.run(main())


def test_cancelled_async_gather_cancels_all():
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main() -> None:
        task = asyncio.ensure_future(AsyncRuntime().gather(wait, wait))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True, True]

    asyncio.run(main())


def test_sync_gather_starts_nothing_after_a_failure():
    begun = []

    def thunk(number: int):
        async def run() -> None:
            begun.append(number)
            if number == 0:
                raise ZeroDivisionError
            release.wait(10)

        return run

    release = threading.Event()
    threading.Timer(0.05, release.set).start()
    with pytest.raises(ZeroDivisionError):
        drive(SyncRuntime().gather(*map(thunk, range(60))))
    assert len(begun) < 60


def test_sync_call_runs_inline_and_async_call_in_a_thread(call_style):
    here = call_style.run(call_style.runtime.call(threading.get_ident)) == threading.get_ident()
    assert here == (call_style.name == "sync")


def test_function_in_a_thread_continues_after_cancellation():
    """A thread cannot be stopped: the caller is free at once, the function ends later."""
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        release.wait(10)
        ended.set()

    async def main() -> None:
        task = asyncio.ensure_future(AsyncRuntime().call(work))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not ended.is_set()
        release.set()
        assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(main())


def test_timeout_interrupts_async_calls_and_only_waits_of_sync_calls():
    async def wait() -> None:
        async with AsyncRuntime().timeout(0.05):
            await asyncio.Event().wait()

    async def work() -> str:
        async with SyncRuntime().timeout(0.0):
            return "done"

    with pytest.raises(TimeoutError):
        asyncio.run(wait())
    assert drive(work()) == "done"


def test_time_and_sleep_use_the_given_clock(call_style):
    clock = VirtualClock()
    runtime = type(call_style.runtime)(clock)
    call_style.run(runtime.sleep(0.02))
    assert (runtime.now(), clock.sleeps) == (0.02, [0.02])


def test_system_clock_is_monotonic(call_style):
    start = call_style.runtime.now()
    call_style.run(call_style.runtime.sleep(0.0))
    assert call_style.runtime.now() >= start


def waited(runtime: Any, future: Future[None], seconds: float | None, limit: float | None = None) -> bool:
    async def wait() -> bool:
        async with runtime.timeout(limit):
            return await runtime.wait(future, seconds)

    return drive(wait()) if isinstance(runtime, SyncRuntime) else asyncio.run(wait())


@pytest.mark.parametrize("make", [SyncRuntime, AsyncRuntime])
@pytest.mark.parametrize("virtual", [True, False])
def test_wait_ends_with_the_future_or_after_the_seconds(make: Any, virtual: bool):
    runtime = make(VirtualClock()) if virtual else make()
    ended: Future[None] = Future()
    seconds = 1_000.0 if virtual else 0.01
    start = runtime.now()
    assert not waited(runtime, ended, seconds)
    assert runtime.now() - start >= seconds
    ended.set_result(None)
    assert waited(runtime, ended, 1_000.0)
    assert waited(runtime, ended, None)
    assert runtime.now() - start < 1_100


@pytest.mark.parametrize("make", [SyncRuntime, AsyncRuntime])
@pytest.mark.parametrize("seconds", [None, 1_000.0])
def test_time_limit_ends_a_wait_of_so_many_seconds(make: Any, seconds: float | None):
    with pytest.raises(TimeoutError):
        waited(make(), Future(), seconds, limit=0.01)
