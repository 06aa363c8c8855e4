"""`AsyncFeed` and `SyncFeed`: items that a task or a daemon thread produces while its reader takes them."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context
from typing import Generic, TypeVar, cast

from ..ports import current_interruption, interruptible
from .sync import as_coroutine, drive
from .waiting import waiting

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


_END = object()


class SyncFeed(Generic[T]):
    """Runs `produce(put)` in a daemon thread from the first read on. Ctrl-C and an interruption of the call end the
    wait of the reader. The thread is abandoned then, as it is by `close`: an interruption ends its waits.
    """

    def __init__(self, produce: Callable[[Callable[[T], None]], Awaitable[None]]) -> None:
        self._produce = produce
        self._items: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._ended = False

    async def read(self) -> list[T]:
        """Returns the items since the last read, at least one; none at the end. Raises the failure of `produce`."""
        if self._ended:
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            return []
        with waiting() as context, interruptible(lambda: self._items.put(_END)):
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, args=(context,), daemon=True)
                self._thread.start()
            item = self._items.get()
        if (interruption := current_interruption()) is not None:
            interruption.check()
        items: list[object] = []
        while item is not _END:
            items.append(item)
            if self._items.empty():
                return cast("list[T]", items)
            item = self._items.get()
        self._ended = True
        return cast("list[T]", items) if items else await self.read()

    async def close(self) -> None:
        """Ends the feed for its reader."""
        self._items.put(_END)

    def _run(self, context: Context) -> None:
        try:
            context.run(drive, as_coroutine(lambda: self._produce(self._items.put)))
        except BaseException as error:
            self._failure = error
        self._items.put(_END)
