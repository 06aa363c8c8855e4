"""`ProgressSender`: sends the progress of a tool as notifications, the latest if there is more than can be sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

Send: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
_SHORTEST_INTERVAL_SECONDS = 0.01
_LONGEST_MESSAGE = 1000


class ProgressSender:
    """Used by `async with`, which sends what was reported last before it ends. `report` is called from any thread.

    Progress that does not increase is dropped, as the protocol requires. `cleaned` removes credentials from messages.
    """

    def __init__(self, send: Send, cleaned: Callable[[str], str]) -> None:
        self._send = send
        self._cleaned = cleaned
        self._loop = asyncio.get_running_loop()
        self._latest: tuple[float, float | None, str | None] | None = None
        self._sent = -math.inf
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress; after the end it is ignored."""
        waits = self._latest is not None
        self._latest = (done, total, message)
        if not waits and not self._end.is_set():
            with suppress(RuntimeError):  # the loop has been closed, and the tool runs on in its thread
                self._loop.call_soon_threadsafe(self._news.set)

    async def __aenter__(self) -> ProgressSender:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        assert self._task is not None
        self._end.set()
        self._news.set()
        if error is not None:
            self._task.cancel()
        try:
            await asyncio.wait([self._task])
        finally:
            self._task.cancel()
        if error is None:
            await self._task

    async def _run(self) -> None:
        while not self._end.is_set():
            await self._news.wait()
            self._news.clear()
            await self._send_latest()
            with suppress(TimeoutError):
                async with asyncio.timeout(_SHORTEST_INTERVAL_SECONDS):
                    await self._end.wait()
        await self._send_latest()

    async def _send_latest(self) -> None:
        latest, self._latest = self._latest, None
        if latest is None:
            return
        done, total, message = latest
        if not math.isfinite(done) or done <= self._sent:
            return
        self._sent = done
        if total is not None and not math.isfinite(total):
            total = None
        await self._send(done, total, None if message is None else self._cleaned(message)[:_LONGEST_MESSAGE])
