"""The runtime of sync calls: it blocks, and its coroutines never suspend.

Runs coroutines that never suspend without an event loop. `off_loop`: work that grows with what others send runs
beside the event loop, once there is much of it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sized
from contextvars import Context
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from ..errors import AbstractCoreError
from ..ports import Clock, Interruption, Runtime, TimeLimit, WakeableClock, WorkKind, current_interruption
from .functions import function_timeout, is_async
from .portal import Portal
from .time_limits import AlarmClock, Limit, SystemClock, current_limit
from .waiting import wait_for, waiting
from .workers import AbandonedWork, in_thread, worker_pools

if TYPE_CHECKING:
    from .feeds import SyncFeed

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    except AbstractCoreError as error:
        from ..tracebacks import shorten

        shorten(error)
        raise
    failure = RuntimeError(
        "a coroutine awaited an event loop in a sync call: use the async API, as in `await llm.agenerate(...)`"
    )
    try:
        coroutine.throw(failure)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise failure


async def as_coroutine(thunk: Callable[[], Awaitable[T]]) -> T:
    """Awaits the result of `thunk`."""
    return await thunk()


_Jobs: TypeAlias = "queue.SimpleQueue[tuple[Callable[[], T], concurrent.futures.Future[T]]]"


class SyncRuntime:
    """The runtime of sync calls. A time limit ends waits through the runtime; other blocking code continues."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._abandoned = AbandonedWork()
        self._alarms = AlarmClock()
        self._portal = Portal(self._abandoned)
        self._pools = worker_pools(self._abandoned)
        self.now = self._clock.now

    @property
    def abandoned(self) -> int:
        """The number of functions that still run after their caller stopped waiting."""
        return len(self._abandoned)

    async def sleep(self, seconds: float) -> None:
        """Blocks the thread for `seconds`. Raises `StreamInterruptedError` when the call is interrupted."""
        limit = current_limit()
        if limit is not None and (left := limit.left_on(self._clock)) < seconds:
            self._sleep(left)
            raise limit.error()
        self._sleep(seconds)

    def _sleep(self, seconds: float) -> None:
        interruption = current_interruption()
        if interruption is None or not isinstance(self._clock, WakeableClock):
            self._clock.sleep(seconds)
        else:
            woken = threading.Event()
            with interruption.ending(woken.set):
                self._clock.sleep_until(woken, seconds)
        if interruption is not None:
            interruption.check()

    async def gather(self, *thunks: Callable[[], Awaitable[T]], threads: int = 16) -> list[T]:
        """Runs the thunks in so many daemon threads, each in a copy of the caller's context.

        Ctrl-C or a first failure ends the wait. The others are interrupted: those that have not begun are not called,
        and those that wait through this runtime stop waiting.
        """
        if len(thunks) < 2:
            return [await thunk() for thunk in thunks]
        results: list[concurrent.futures.Future[T]] = [concurrent.futures.Future() for _ in thunks]
        jobs: _Jobs[T] = queue.SimpleQueue()
        limit, interruption = current_limit(), Interruption()
        try:
            with interruption.of_this_call(), waiting() as context:
                for thunk, result in zip(thunks, results, strict=True):
                    jobs.put((_in_context(context.copy(), thunk), result))
                for _ in range(min(len(thunks), threads)):
                    threading.Thread(target=_work_off, args=(jobs,), daemon=True).start()
                wait_for(results, None if limit is None else limit.left())
            failed = next((result for result in results if result.done() and result.exception()), None)
            if failed is None and limit is not None and not all(result.done() for result in results):
                raise limit.error()
            return [result.result() for result in ([failed] if failed else results)]
        finally:
            if not all(result.done() for result in results):
                _empty(jobs)
                interruption.set()

    def feed(self, produce: Callable[[Callable[[T], None]], Awaitable[None]]) -> SyncFeed[T]:
        """Returns a feed of the items that `produce` puts."""
        from .feeds import SyncFeed

        return SyncFeed(produce)

    async def call(self, function: Callable[..., T], *arguments: object, kind: WorkKind = "other") -> T:
        """Calls the function here; inside a time limit in a worker thread, which is abandoned at the limit."""
        limit = current_limit()
        if limit is None:
            return function(*arguments)
        with waiting() as context:
            job = self._pools[kind].job(context, function, *arguments)
            try:
                job.begin()
                ended = wait_for([job.result], limit.left())
            finally:
                job.abandon()
        if not ended:
            raise limit.error()
        return job.result.result()

    async def wait(self, future: concurrent.futures.Future[Any], seconds: float | None = None) -> bool:
        """Blocks until `future` has ended, for `seconds` at most; returns whether it has. A clock whose sleeps take no
        real time sleeps for all of them.
        """
        if seconds is not None and not isinstance(self._clock, WakeableClock):
            if not future.done():
                await self.sleep(seconds)
            return future.done()
        limit = current_limit()
        left = None if limit is None else limit.left()
        if wait_for([future], _shorter(left, seconds)):
            return True
        if limit is not None and left is not None and (seconds is None or left <= seconds):
            raise limit.error()
        return False

    async def invoke(
        self, function: Callable[..., Awaitable[T] | T], *arguments: object, timeout: float | None = None
    ) -> T:
        """Calls functions here, or in a thread if there is a timeout; awaits results in a background event loop."""
        limit = current_limit()
        if limit is None or (timeout is not None and timeout < limit.left()):
            return self._invoke(function, arguments, timeout)
        try:
            return self._invoke(function, arguments, limit.left())
        except TimeoutError as error:
            if limit.left() > 0.0:  # raised by the function
                raise
            raise limit.error() from error

    def close(self) -> None:
        """Cancels the async functions that run. The runtime can be used afterwards."""
        self._portal.close()

    def _invoke(
        self, function: Callable[..., Awaitable[T] | T], arguments: tuple[object, ...], timeout: float | None
    ) -> T:
        start = time.monotonic()
        if is_async(function):
            return self._portal.run(function, lambda: cast("Awaitable[T]", function(*arguments)), timeout)
        result = function(*arguments) if timeout is None else self._in_thread(function, arguments, timeout)
        if not isinstance(result, Awaitable):
            return result
        awaitable = cast("Awaitable[T]", result)
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - start))
        return self._portal.run(function, lambda: awaitable, left)

    def _in_thread(self, function: Callable[..., T], arguments: tuple[object, ...], timeout: float) -> T:
        work: concurrent.futures.Future[T] = concurrent.futures.Future()
        with waiting() as context:
            try:
                in_thread(work, context, function, arguments)
                ended = wait_for([work], timeout)
            finally:
                self._abandoned.add(function, work)
        if not ended:
            raise function_timeout(function, timeout)
        return work.result()

    def timeout(self, seconds: float | None) -> TimeLimit:
        """Returns a context that ends waits in its body through this runtime; see `Limit`."""
        return Limit(seconds, self._clock)

    async def interruptible(self, interruption: Interruption, make: Callable[[], Awaitable[T]]) -> T:
        """Awaits `make()`; waits through this runtime or a transport end when `interruption` is set."""
        with interruption.of_this_call():
            return await make()

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Calls `ring` after `seconds` in a thread, up to 0.05 s late; returns a function that cancels the alarm."""
        return self._alarms.set(seconds, ring)


def _shorter(one: float | None, other: float | None) -> float | None:
    given = [each for each in (one, other) if each is not None]
    return min(given) if given else None


def _in_context(context: Context, thunk: Callable[[], Awaitable[T]]) -> Callable[[], T]:
    """Returns a function that drives the thunk in `context`, for another thread."""
    return lambda: context.run(drive, as_coroutine(thunk))


def _work_off(jobs: _Jobs[T]) -> None:
    """Does queued jobs until there are none; a failure empties the queue."""
    with contextlib.suppress(queue.Empty):
        while True:
            job, result = jobs.get_nowait()
            try:
                result.set_result(job())
            except BaseException as error:
                result.set_exception(error)
                _empty(jobs)


def _empty(jobs: _Jobs[Any]) -> None:
    with contextlib.suppress(queue.Empty):
        while True:
            jobs.get_nowait()


_MOST_ITEMS = 100
_MOST_BYTES = 16 * 1024
"""A body of so many bytes may have a few hundred items; reading and writing them takes a few milliseconds."""


def is_large(content: Sized) -> bool:
    """Whether work on a list of items, or on bytes or text, may take longer than an event loop should wait."""
    return len(content) > (_MOST_BYTES if isinstance(content, bytes | bytearray | str) else _MOST_ITEMS)


async def off_loop(runtime: Runtime, large: bool, function: Callable[..., T], *arguments: object) -> T:
    """Returns the result of a function. `large` work runs in a worker thread, so that the event loop goes on."""
    return await runtime.call(function, *arguments) if large else function(*arguments)
