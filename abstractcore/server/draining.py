"""`Drains`: what happens to calls whose clients have left: they are cancelled, or go on for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from .connection import ClientGone, Connection
from .limits import Limits
from .settings import OnDisconnect


class Drains:
    """Counts the calls that go on without their clients; `limits.drains` of them at once, each for a limited time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.running = 0
        self.is_stopping = False
        """Whether the server is being stopped."""

    @asynccontextmanager
    async def watched(self, connection: Connection, policy: OnDisconnect) -> AsyncGenerator[None]:
        """In its body, a client that leaves cancels the current task, at once or after `drain_seconds`.

        Raises `ClientGone` when the body was cancelled for that reason.
        """
        task = asyncio.current_task()
        assert task is not None
        watch = _Watch(self, self._limits, task, policy)
        watcher = asyncio.ensure_future(connection.until_gone())
        watcher.add_done_callback(watch.client_left)
        try:
            yield
        except asyncio.CancelledError:
            if not watch.has_cancelled:
                raise
            task.uncancel()
            raise ClientGone from None
        finally:
            watch.end()
            watcher.cancel()


class _Watch:
    """The watch over one call."""

    def __init__(self, drains: Drains, limits: Limits, task: asyncio.Task[object], policy: OnDisconnect) -> None:
        self._drains = drains
        self._limits = limits
        self._task = task
        self._policy = policy
        self._timer: asyncio.TimerHandle | None = None
        self.has_cancelled = False
        self._ended = False

    def client_left(self, watcher: asyncio.Future[None]) -> None:
        """Cancels the call, or lets it go on."""
        if self._ended or watcher.cancelled():
            return
        if self._policy == "cancel" or self._drains.running >= self._limits.drains:
            self._cancel()
            return
        self._drains.running += 1
        self._timer = asyncio.get_running_loop().call_later(self._limits.drain_seconds, self._cancel)

    def _cancel(self) -> None:
        self.has_cancelled = True
        self._task.cancel()

    def end(self) -> None:
        """Ends the watch: the call has ended."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
            self._drains.running -= 1
