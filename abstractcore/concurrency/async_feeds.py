"""`AsyncFeed`: items that a task produces while its reader takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class AsyncFeed(Generic[T]):
    """Runs `produce(put)` as a task from the first read on. `put` may be called from any thread."""

    def __init__(self, produce: Callable[[Callable[[T], None]], Awaitable[None]]) -> None:
        self._produce = produce
        self._items: list[T] = []
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def read(self) -> list[T]:
        """Returns the items since the last read, at least one; none at the end. Raises the failure of `produce`."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(lambda task: self._changed.set())
        while not self._items and not self._task.done():
            self._changed.clear()
            await self._changed.wait()
        if self._items:
            items, self._items = self._items, []
            return items
        await self._task
        return []

    async def close(self) -> None:
        """Cancels the task, and waits for its end."""
        if self._task is not None:
            self._task.cancel()
            self._task.add_done_callback(_ignore_failure)
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()

        def put(item: T) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody reads any more
                loop.call_soon_threadsafe(self._add, item)

        try:
            await self._produce(put)
        finally:
            # Items that were put just now are added before the task ends.
            added = asyncio.Event()
            loop.call_soon(added.set)
            await added.wait()

    def _add(self, item: T) -> None:
        self._items.append(item)
        self._changed.set()


def _ignore_failure(task: asyncio.Task[None]) -> None:
    """Marks the failure of a task that nobody reads any more as seen, so that it is not logged."""
    if not task.cancelled():
        task.exception()
