"""The runtime for asyncio, which never blocks."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..ports import Clock, Interruption, TimeLimit, WorkKind
from .abandoned import AbandonedWork, in_thread
from .clocks import SystemClock
from .driving import as_coroutine
from .functions import captured_outcome, function_timeout, in_this_task, is_async, result_of, with_timeout
from .pools import worker_pools

if TYPE_CHECKING:
    from .async_feeds import AsyncFeed

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

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
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
        from .async_feeds import AsyncFeed

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

    async def wait(self, future: Future[Any]) -> None:
        """Waits until `future` has ended."""
        await asyncio.wait([asyncio.wrap_future(future)])

    async def invoke(
        self, function: Callable[..., Awaitable[T] | T], *arguments: object, timeout: float | None = None
    ) -> T:
        """Calls async functions in the event loop, others in a thread. With a timeout, async functions run in a task of
        their own: one that goes on after its cancellation is abandoned.
        """
        start = time.monotonic()
        if is_async(function):
            return await self._awaited(function, lambda: cast("Awaitable[T]", function(*arguments)), timeout)
        result = await with_timeout(function, lambda: self._in_thread(function, arguments), timeout)
        if not isinstance(result, Awaitable):
            return result
        awaitable = cast("Awaitable[T]", result)
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - start))
        return await self._awaited(function, lambda: awaitable, left)

    async def _awaited(
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
