"""`SyncFeed`: items that a daemon thread produces while its reader takes them, in sync calls."""

from __future__ import annotations

import queue
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Generic, TypeVar, cast

from .driving import as_coroutine, drive
from .waiting import waiting

T = TypeVar("T")
_END = object()


class SyncFeed(Generic[T]):
    """Runs `produce(put)` in a daemon thread from the first read on. Ctrl-C ends the wait of the reader; the thread
    is abandoned then, as it is by `close`.
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
        with waiting() as context:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, args=(context,), daemon=True)
                self._thread.start()
            items = [self._items.get()]
        while not self._items.empty():
            items.append(self._items.get())
        if items[-1] is _END:
            self._ended = True
            items.pop()
        return cast("list[T]", items) if items else await self.read()

    async def close(self) -> None:
        """Ends the wait of a reader in another thread."""
        self._items.put(_END)

    def _run(self, context: Context) -> None:
        try:
            context.run(drive, as_coroutine(lambda: self._produce(self._items.put)))
        except BaseException as error:
            self._failure = error
        self._items.put(_END)
