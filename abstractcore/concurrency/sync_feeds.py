"""`SyncFeed`: items that a daemon thread produces while its reader takes them, in sync calls."""

from __future__ import annotations

import queue
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Generic, TypeVar, cast

from ..ports import current_interruption, interruptible
from .driving import as_coroutine, drive
from .waiting import waiting

T = TypeVar("T")
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
