"""The runtime for asyncio, which never blocks.

Closes a resource in the event loop it belongs to, from any thread. Per-event-loop values, closed when their loop
shuts down.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from ..ports import Clock, Interruption, TimeLimit, WakeableClock, WorkKind
from .functions import captured_outcome, function_timeout, in_this_task, is_async, result_of, with_timeout
from .sync import as_coroutine
from .time_limits import SystemClock
from .workers import AbandonedWork, in_thread, worker_pools

if TYPE_CHECKING:
    from .feeds import AsyncFeed

T = TypeVar("T")
_CLOCK_TICK = time.get_clock_info("monotonic").resolution
"""Event loops may run timers this much too early."""
_CLEANING_UP_SECONDS = 1.0
"""How long to wait for a cancelled function."""


class AsyncRuntime:
    """The runtime of async calls. `timeout` and `alarm` use the clock of the event loop."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._abandoned = AbandonedWork()
        self._pools = worker_pools(self._abandoned)
        self.now = self._clock.now

    @property
    def abandoned(self) -> int:
        """The number of functions that still run after their caller stopped waiting."""
        return len(self._abandoned)

    async def sleep(self, seconds: float) -> None:
        """Sleeps for `seconds`."""
        await self._clock.asleep(seconds)

    async def gather(self, *thunks: Callable[[], Awaitable[T]], threads: int = 16) -> list[T]:
        """Runs the thunks as tasks; the first failure cancels the others and waits for them."""
        if len(thunks) < 2:
            return [await thunk() for thunk in thunks]
        tasks = [asyncio.ensure_future(as_coroutine(thunk)) for thunk in thunks]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def feed(self, produce: Callable[[Callable[[T], None]], Awaitable[None]]) -> AsyncFeed[T]:
        """Returns a feed of the items that `produce` puts."""
        from .feeds import AsyncFeed

        return AsyncFeed(produce)

    async def call(self, function: Callable[..., T], *arguments: object, kind: WorkKind = "other") -> T:
        """Calls the function in a worker thread, not in the loop's default executor: DNS look-ups need that one, and
        the loop's shutdown waits for it. If the caller is cancelled, a call that has begun is abandoned.
        """
        job = self._pools[kind].job(contextvars.copy_context(), function, *arguments)
        try:
            job.begin()
            return await asyncio.wrap_future(job.result)
        finally:
            job.abandon()

    async def wait(self, future: Future[Any], seconds: float | None = None) -> bool:
        """Waits until `future` has ended, for `seconds` at most; returns whether it has."""
        ended = asyncio.wrap_future(future)
        if seconds is None or isinstance(self._clock, WakeableClock):
            await asyncio.wait([ended], timeout=seconds)
            return future.done()
        asleep = asyncio.ensure_future(self._clock.asleep(seconds))
        try:
            await asyncio.wait([ended, asleep], return_when=asyncio.FIRST_COMPLETED)
        finally:
            asleep.cancel()
        return future.done()

    async def invoke(
        self, function: Callable[..., Awaitable[T] | T], *arguments: object, timeout: float | None = None
    ) -> T:
        """Calls async functions in the event loop, others in a thread. With a timeout, async functions run in a task of
        their own: one that goes on after its cancellation is abandoned.
        """
        start = time.monotonic()
        if is_async(function):
            return await self._await_within(function, lambda: cast("Awaitable[T]", function(*arguments)), timeout)
        result = await with_timeout(function, lambda: self._in_thread(function, arguments), timeout)
        if not isinstance(result, Awaitable):
            return result
        awaitable = cast("Awaitable[T]", result)
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - start))
        return await self._await_within(function, lambda: awaitable, left)

    async def _await_within(
        self, function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None
    ) -> T:
        if timeout is None:
            return await in_this_task(function, make)
        task = asyncio.ensure_future(captured_outcome(make))
        try:
            await asyncio.wait([task], timeout=timeout)
            is_late = not task.done()
        finally:
            await self._discard(function, task)
        if is_late:
            raise function_timeout(function, timeout)
        return result_of(function, task)

    async def _discard(self, function: Callable[..., object], task: asyncio.Task[Any]) -> None:
        """Cancels `task` unless it has ended; abandons it if it does not end soon."""
        if task.done():
            return
        task.cancel()
        try:
            await asyncio.wait([task], timeout=_CLEANING_UP_SECONDS)
        finally:
            if not task.done():
                ended: Future[None] = Future()
                ended.set_running_or_notify_cancel()
                task.add_done_callback(lambda _: ended.set_result(None))
                self._abandoned.add(function, ended)

    async def _in_thread(self, function: Callable[..., T], arguments: tuple[object, ...]) -> T:
        """Calls the function in a new thread: if it hangs, it blocks neither the loop's shutdown nor a pool."""
        work: Future[T] = Future()
        in_thread(work, contextvars.copy_context(), function, arguments)
        try:
            return await asyncio.wrap_future(work)
        finally:
            self._abandoned.add(function, work)

    def timeout(self, seconds: float | None) -> TimeLimit:
        """Returns a context that cancels its body after `seconds`."""
        return asyncio.timeout(seconds)

    async def interruptible(self, interruption: Interruption, make: Callable[[], Awaitable[T]]) -> T:
        """Awaits `make()`; ends the wait when `interruption` is set."""
        loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)

        def end() -> None:
            with suppress(RuntimeError):  # it has ended already
                limit.reschedule(loop.time())

        try:
            async with limit:
                with interruption.of_this_call(), interruption.ending(lambda: loop.call_soon_threadsafe(end)):
                    return await make()
        except TimeoutError:
            interruption.check()
            raise

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Calls `ring` after `seconds` in the event loop; returns a function that cancels the alarm."""
        return asyncio.get_running_loop().call_later(seconds + _CLOCK_TICK, ring).cancel


_Key: TypeAlias = tuple[int, asyncio.AbstractEventLoop]


class _LoopValue(NamedTuple, Generic[T]):
    value: T
    keeper: AsyncGenerator[None]


class LoopLocal(Generic[T]):
    """One value for each event loop, created on first use and closed when the loop shuts down.

    The loops may run one after the other, or at once in several threads. A forked child starts with no values, and does
    not touch its parent's.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._kept: dict[_Key, _LoopValue[T]] = {}

    def __len__(self) -> int:
        """Returns the number of event loops that have a value."""
        return len(self._kept)

    def get(self) -> T:
        """Returns the value of the running loop."""
        key = os.getpid(), asyncio.get_running_loop()
        kept = self._kept.get(key)
        if kept is None:
            self._forget_closed_loops()
            value = self._make()
            kept = self._kept[key] = _LoopValue(value, self._keep(key, value))
            with suppress(StopIteration):  # its first step registers it with the loop
                kept.keeper.__anext__().send(None)
        return kept.value

    async def close(self) -> None:
        """Closes the value of the running loop; the next `get` creates a new one."""
        kept = self._kept.get((os.getpid(), asyncio.get_running_loop()))
        if kept is not None:
            await kept.keeper.aclose()

    def _forget_closed_loops(self) -> None:
        for key in list(self._kept):  # a copy: other threads may add their loops
            if key[0] == os.getpid() and key[1].is_closed():
                self._kept.pop(key, None)

    async def _keep(self, key: _Key, value: T) -> AsyncGenerator[None]:
        """Waits to be closed: a loop that shuts down closes the async generators that began in it."""
        try:
            yield
        finally:
            self._kept.pop(key, None)
            await self._close(value)


_log = logging.getLogger("abstractcore")


class LoopCloser:
    """Runs `close` in the current event loop: when `soon` is called, and at the latest when the loop shuts down.

    `close` may run again if the task that ran it was cancelled.
    """

    def __init__(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._close = close
        self._process = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._closers = _closers_of_loop.get()
        self._closers.add(self)
        self.task: asyncio.Task[None] | None = None

    def forget(self) -> None:
        """Stops watching the loop: the resource is closed already."""
        self._closers.discard(self)

    def soon(self) -> bool:
        """Starts closing, from any thread. Returns False if the loop is not running, and after a fork."""
        if self._process != os.getpid():
            return False
        try:
            self._loop.call_soon_threadsafe(self._begin)
        except RuntimeError:  # the loop is closed
            return False
        return self._loop.is_running()

    async def run(self) -> None:
        """Closes the resource. An error is logged, since no caller could handle it."""
        try:
            await self._close()
        except Exception:
            _log.exception("closing a dropped resource failed")
        self.forget()

    def _begin(self) -> None:
        if self in self._closers:
            self.task = self._loop.create_task(self.run())


async def _close_all(closers: set[LoopCloser]) -> None:
    tasks = [closer.task for closer in closers if closer.task is not None]
    if tasks:
        await asyncio.wait(tasks)
    for closer in list(closers):  # tasks that have not begun, or were cancelled with all tasks of the loop
        await closer.run()


_closers_of_loop: LoopLocal[set[LoopCloser]] = LoopLocal(set, _close_all)
