"""`OwnedContext`: an async context manager that is entered and left by one task, whoever uses it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

from ..errors import AbstractCoreError

T = TypeVar("T")


class NotEnteredError(AbstractCoreError):
    """The context was left before it had been entered: with `timed_out`, since that took too long."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("the context took too long to enter" if timed_out else "the context was left")
        self.timed_out = timed_out


class OwnedContext(Generic[T]):
    """Enters a context manager in a task of its own, and leaves it there: cancel scopes must be left by their task.

    Entering may take `timeout` seconds. The task has no context variables of the caller, since others use the value
    too. The event loop's shutdown cancels it, which leaves the context.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[T]], timeout: float) -> None:
        self._make = make
        self.failure: BaseException | None = None
        """What ended the context after it was entered, if not `leave`."""
        loop = asyncio.get_running_loop()
        self._leaving = asyncio.Event()
        self._entered: asyncio.Future[T] = loop.create_future()
        self._entered.add_done_callback(_retrieve_exception)
        self._task = loop.create_task(self._own(), context=contextvars.Context())
        timer = loop.call_later(timeout, self._give_up, NotEnteredError(timed_out=True))
        self._entered.add_done_callback(lambda entered: timer.cancel())

    async def value(self) -> T:
        """Returns the value of the context once it has been entered; raises its failure to begin.

        Every caller gets that failure, `NotEnteredError` if the context was left before. A caller that is cancelled
        does not end it.
        """
        return await asyncio.shield(self._entered)

    @property
    def has_ended(self) -> bool:
        """Whether the context was left."""
        return self._task.done()

    async def leave(self) -> None:
        """Leaves the context, and waits for it; one that has not been entered yet is cancelled."""
        self._give_up(NotEnteredError(timed_out=False))
        await asyncio.wait([self._task])

    def _give_up(self, error: NotEnteredError) -> None:
        self._leaving.set()
        if self._fail(error):
            self._task.cancel()

    def _fail(self, error: BaseException) -> bool:
        """Gives the callers of `value` an error; returns whether they had nothing before."""
        if self._entered.done():
            return False
        self._entered.set_exception(error)
        return True

    async def _own(self) -> None:
        try:
            async with self._make() as value:
                if not self._entered.done():
                    self._entered.set_result(value)
                await self._leaving.wait()
        except asyncio.CancelledError:
            self._fail(NotEnteredError(timed_out=False))
            raise
        except BaseException as error:
            if not self._fail(error):
                self.failure = error


def _retrieve_exception(entered: asyncio.Future[T]) -> None:
    """Marks a failure as seen: every caller of `value` gets it, and there may be none left."""
    if not entered.cancelled():
        entered.exception()
