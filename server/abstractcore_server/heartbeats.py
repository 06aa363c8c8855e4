"""`Heartbeats`: keeps a quiet stream alive, between its events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .connection import Connection


class Heartbeats:
    """While it runs (`with`), calls `beat` whenever nothing was sent for `seconds`. A client that reads slowly gets
    none.

    One timer for each stream, which chunks do not touch.
    """

    def __init__(self, connection: Connection, seconds: float, beat: Callable[[], Awaitable[None]]) -> None:
        self._connection = connection
        self._seconds = seconds
        self._beat = beat
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._connection.last_sent = self._loop.time()
        self._timer = self._loop.call_later(self._seconds, self._look)

    def __exit__(self, *exception: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        quiet = self._loop.time() - self._connection.last_sent
        left = self._seconds - quiet
        if left <= 0:
            left = self._seconds
            if not self._connection.is_sending and not self._connection.gone:
                self._task = self._loop.create_task(self._send())
        self._timer = self._loop.call_later(left, self._look)

    async def _send(self) -> None:
        await self._beat()
