"""`OwnedContext`: an async context manager that is entered and left by one task, whoever uses it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

T = TypeVar("T")


class OwnedContext(Generic[T]):
    """Enters a context manager in a task of its own, and leaves it there: cancel scopes must be left by their task.

    The task has no context variables of the caller, since others use the value too. The event loop's shutdown cancels
    it, which leaves the context.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._make = make
        self.failure: BaseException | None = None
        """What ended the context after it was entered, if not `leave`."""
        self._leaving = asyncio.Event()
        self._entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._entered.add_done_callback(_seen)
        self._task = asyncio.get_running_loop().create_task(self._own(), context=contextvars.Context())

    async def value(self) -> T:
        """Returns the value of the context once it has been entered; raises its failure to begin.

        A caller that is cancelled does not end it.
        """
        return await asyncio.shield(self._entered)

    @property
    def has_ended(self) -> bool:
        """Whether the context was left."""
        return self._task.done()

    async def leave(self) -> None:
        """Leaves the context, and waits for it; one that has not been entered yet is cancelled."""
        self._leaving.set()
        if not self._entered.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    async def _own(self) -> None:
        try:
            async with self._make() as value:
                self._entered.set_result(value)
                await self._leaving.wait()
        except asyncio.CancelledError:
            self._entered.cancel()
            raise
        except BaseException as error:
            if self._entered.done():
                self.failure = error
            else:
                self._entered.set_exception(error)


def _seen(entered: asyncio.Future[T]) -> None:
    """Marks a failure as seen: every caller of `value` gets it, and there may be none left."""
    if not entered.cancelled():
        entered.exception()
