"""`Drains`: what happens to calls whose clients have left: they are cancelled, or go on for a while."""

from __future__ import annotations

import asyncio

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

    def watched(self, connection: Connection, policy: OnDisconnect) -> Watch:
        """Returns a context: in its body, a client that leaves cancels the current task, at once or after
        `drain_seconds`. It raises `ClientGone` when the body was cancelled for that reason.
        """
        return Watch(self, self._limits, connection, policy)


class Watch:
    """The watch over one call, an async context."""

    def __init__(self, drains: Drains, limits: Limits, connection: Connection, policy: OnDisconnect) -> None:
        self._drains = drains
        self._limits = limits
        self._connection = connection
        self._policy = policy
        self._timer: asyncio.TimerHandle | None = None
        self._has_cancelled = False
        self._ended = False

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._watcher = asyncio.ensure_future(self._connection.until_gone())
        self._watcher.add_done_callback(self._client_left)

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._ended = True
        self._watcher.cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._drains.running -= 1
        if self._has_cancelled and kind is asyncio.CancelledError:
            self._task.uncancel()
            raise ClientGone from None

    def _client_left(self, watcher: asyncio.Future[None]) -> None:
        """Cancels the call, or lets it go on."""
        if self._ended or watcher.cancelled():
            return
        if self._policy == "cancel" or self._drains.running >= self._limits.drains:
            self._cancel()
            return
        self._drains.running += 1
        self._timer = asyncio.get_running_loop().call_later(self._limits.drain_seconds, self._cancel)

    def _cancel(self) -> None:
        self._has_cancelled = True
        self._task.cancel()
