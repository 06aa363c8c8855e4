"""The two colours: a runtime for plain code, whose coroutines never suspend, and one for asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
_Jobs: TypeAlias = "queue.SimpleQueue[tuple[Callable[[], T], concurrent.futures.Future[T]]]"
_MOST_THREADS = 16


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise RuntimeError("code called through the sync API waited for an event loop: use the async API with it")


class _NoTimeout:
    """A time-out that never strikes: blocking code cannot be interrupted, so deadlines are checked between reads."""

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *exception: object) -> None:
        return None


_NO_TIMEOUT = _NoTimeout()
_CLOCK_TICK = time.get_clock_info("monotonic").resolution
"""Event loops ring timers up to this much too early."""


class SyncRuntime:
    """Plain blocking code."""

    def now(self) -> float:
        """Seconds on the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Block the thread."""
        time.sleep(seconds)  # noqa: ASYNC251 - the sync colour blocks on purpose

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
        """Run the thunks in threads, each in a copy of the caller's context.

        The threads are daemons: Ctrl-C or a first failure ends the wait, and what still runs is left behind.
        """
        if len(thunks) < 2:
            return [await thunk() for thunk in thunks]
        results: list[concurrent.futures.Future[T]] = [concurrent.futures.Future() for _ in thunks]
        waiting: _Jobs[T] = queue.SimpleQueue()
        for thunk, result in zip(thunks, results, strict=True):
            waiting.put((_in_this_context(thunk), result))
        for _ in range(min(len(thunks), _MOST_THREADS)):
            threading.Thread(target=_work_off, args=(waiting,), daemon=True).start()
        concurrent.futures.wait(results, return_when=concurrent.futures.FIRST_EXCEPTION)
        failed = next((result for result in results if result.done() and result.exception()), None)
        return [result.result() for result in ([failed] if failed else results)]

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call the function here."""
        return function(*arguments)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Nothing: see `_NoTimeout`."""
        return _NO_TIMEOUT

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Never rings, for the same reason."""
        return _nothing


class AsyncRuntime:
    """asyncio."""

    def now(self) -> float:
        """Seconds on the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run meanwhile."""
        await asyncio.sleep(seconds)

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
        """Run the thunks as tasks; the first failure cancels the others and waits for them."""
        if len(thunks) < 2:
            return [await thunk() for thunk in thunks]
        tasks = [asyncio.ensure_future(_as_coroutine(thunk)) for thunk in thunks]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Call the function in a thread. It runs on to its end if the caller is cancelled."""
        return await asyncio.to_thread(function, *arguments)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[object]:
        """Cancel what runs inside after `seconds`."""
        return asyncio.timeout(seconds)

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """A timer of the event loop."""
        return asyncio.get_running_loop().call_later(seconds + _CLOCK_TICK, ring).cancel


def _nothing() -> None:
    return


_closing: set[asyncio.Task[None]] = set()
"""Event loops hold their tasks weakly: these must not vanish before they are done."""


def in_this_loop() -> Callable[[Callable[[], Coroutine[Any, Any, None]]], bool]:
    """A function that runs a coroutine in the event loop of now, later and from any thread.

    It says whether that will happen soon: not if the loop stands still or is closed, or after a fork.
    """
    loop, process = asyncio.get_running_loop(), os.getpid()

    def run(make: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        if loop.is_closed() or process != os.getpid():
            return False

        def start() -> None:
            task = loop.create_task(make())
            _closing.add(task)
            task.add_done_callback(_closing.discard)

        loop.call_soon_threadsafe(start)
        return loop.is_running()

    return run


def _in_this_context(thunk: Callable[[], Awaitable[T]]) -> Callable[[], T]:
    """A function for another thread that drives the thunk in a copy of the context of now."""
    context = contextvars.copy_context()
    return lambda: context.run(drive, _as_coroutine(thunk))


def _work_off(waiting: _Jobs[T]) -> None:
    """Do what waits until nothing does; a failure empties the queue."""
    with contextlib.suppress(queue.Empty):
        while True:
            job, result = waiting.get_nowait()
            try:
                result.set_result(job())
            except BaseException as error:
                result.set_exception(error)
                while True:
                    waiting.get_nowait()


async def _as_coroutine(thunk: Callable[[], Awaitable[T]]) -> T:
    return await thunk()
