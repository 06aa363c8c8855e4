"""Tracks event loops that are blocked because their thread waits: work for one of them would never begin.

Awaits possibly awaitable results from sync code. Waits of sync calls for futures, which the interruption of the call
ends.
"""

from __future__ import annotations

import contextvars
import queue
import sys
import threading
import time
from collections.abc import Awaitable, Generator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar, copy_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..ports import current_interruption, interruptible

if TYPE_CHECKING:
    import asyncio


class _Wait:
    """One wait; at its end it drops its reference to the blocked loop."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop: asyncio.AbstractEventLoop | None = loop


_waits: ContextVar[tuple[_Wait, ...]] = ContextVar("abstractcore_waits", default=())


def waiting() -> AbstractContextManager[Context]:
    """Marks a wait of this thread; yields a copy of the context, marked too, for the work that it waits for."""
    context, loop = copy_context(), _running_loop()
    return nullcontext(context) if loop is None else _blocking(loop, context)


@contextmanager
def _blocking(loop: asyncio.AbstractEventLoop, context: Context) -> Generator[Context]:
    wait = _Wait(loop)
    context.run(_waits.set, (*_waits.get(), wait))
    try:
        yield context
    finally:
        wait.loop = None


def is_blocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Returns whether `loop` is blocked until the current code ends."""
    return loop is _running_loop() or any(wait.loop is loop for wait in _waits.get())


def _running_loop() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:  # nothing has started a loop
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


T = TypeVar("T")


class AwaitableRunner:
    """An event loop of one thread, created when first needed, and closed at the end of `with`."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def finish(self, result: object) -> object:
        """Returns `result`, or awaits it if it is awaitable, in a copy of the current context."""
        if not isinstance(result, Awaitable):
            return result
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        awaited = _await(cast("Awaitable[object]", result))
        return self._runner.run(awaited, context=contextvars.copy_context())

    def __enter__(self) -> AwaitableRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._runner is not None:
            self._runner.close()


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def wait_for(works: Sequence[Future[Any]], seconds: float | None) -> bool:
    """Waits until all `works` have ended, or one has failed; returns False if that takes more than `seconds`.

    Raises `StreamInterruptedError` when the call is interrupted.
    """
    due = None if seconds is None else time.monotonic() + seconds
    ended: queue.SimpleQueue[Future[Any] | None] = queue.SimpleQueue()
    for work in works:
        work.add_done_callback(ended.put)
    with interruptible(lambda: ended.put(None)):
        for _ in works:
            try:
                work = ended.get(timeout=None if due is None else _positive(due - time.monotonic()))
            except queue.Empty:
                return False
            if work is None:
                break
            if work.cancelled() or work.exception() is not None:
                return True
        else:
            return True
    interruption = current_interruption()
    assert interruption is not None
    interruption.check()
    return False


def _positive(seconds: float) -> float:
    return min(max(seconds, 0.0), threading.TIMEOUT_MAX)
