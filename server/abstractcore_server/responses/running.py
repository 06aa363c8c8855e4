"""`RunningResponses`: the responses that this process makes in the background, and its signs of life."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from abstractcore.errors import RateLimitError

from ..failures import RequestRefused

if TYPE_CHECKING:
    from ..metrics import SharedFolder
    from ..store.background import ResponseKey
    from ..stored_state import StoredState

_LOOK_SECONDS = 1.0
"""How often this process renews its sign of life in the store, and reads which responses others have ended."""


class RunningResponse:
    """A response that this process makes. Once it `is_ending`, it is not cancelled any more."""

    def __init__(self, work: Callable[[RunningResponse], Coroutine[Any, Any, None]]) -> None:
        self.news = asyncio.Event()
        """Set when there are more events in the store, and then replaced."""
        self.is_ending = False
        self.task = asyncio.create_task(work(self))

    def notify(self) -> None:
        """Wakes those who wait for news."""
        self.news.set()
        self.news = asyncio.Event()

    def cancel(self) -> None:
        """Ends the work, unless it ends by itself at this moment."""
        if not self.is_ending:
            self.task.cancel()


class RunningResponses:
    """The responses in the background of one process. `shared` is the folder of all that answer together.

    A response whose process has ended fails: at once, if the process ends in order or is replaced, else when it has
    given no sign of life for a while.
    """

    def __init__(self, stored: StoredState, shared: SharedFolder | None) -> None:
        self._stored = stored
        self._shared = shared
        self.process = uuid4().hex[:12] if shared is None else shared.process
        self._running: dict[ResponseKey, RunningResponse] = {}
        self._beginning = 0
        self._watch: asyncio.Task[None] | None = None
        self._stops_at: float | None = None

    @property
    def running(self) -> int:
        """How many responses are being made."""
        return len(self._running)

    @contextmanager
    def place(self, most: int) -> Generator[None]:
        """Holds a place for a response that is about to begin; raises `RateLimitError` if `most` are being made."""
        if len(self._running) + self._beginning >= most:
            message = f"the server has reached its limit of {most} responses in the background"
            raise RateLimitError(message, retry_after=1)
        self._beginning += 1
        try:
            yield
        finally:
            self._beginning -= 1

    async def begin(self) -> None:
        """Lets the responses of processes that have died fail."""
        died = [] if self._shared is None else self._shared.dead_processes()
        if died:
            with suppress(RequestRefused):  # which was logged, and they will expire
                await self._stored.run(lambda tables: tables.background.free(died))

    def add(self, key: ResponseKey, work: Callable[[RunningResponse], Coroutine[Any, Any, None]]) -> None:
        """Begins to make a response, which is in the store."""
        running = self._running[key] = RunningResponse(work)
        running.task.add_done_callback(lambda _: self._running.pop(key))
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._look())

    def find(self, key: ResponseKey) -> RunningResponse | None:
        """Returns a response that this process makes."""
        return self._running.get(key)

    def cancel(self, key: ResponseKey) -> None:
        """Ends the work on a response that was ended in the store; another process notices it by itself."""
        running = self._running.get(key)
        if running is not None:
            running.cancel()
            running.notify()

    def stop(self, seconds: float) -> None:
        """Gives the responses `seconds` from now on, until `close` ends them."""
        if self._stops_at is None:
            self._stops_at = time.monotonic() + seconds

    async def close(self) -> None:
        """Waits until the responses have ended, as long as `stop` has said; those that have not fail."""
        if self._running:
            await self._end_all()
        if self._watch is not None:
            self._watch.cancel()

    async def _end_all(self) -> None:
        running = list(self._running.values())
        left = 0.0 if self._stops_at is None else max(0.0, self._stops_at - time.monotonic())
        tasks = [each.task for each in running]
        await asyncio.wait(tasks, timeout=left)
        for each in running:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(RequestRefused):
            await self._stored.run(lambda tables: tables.background.free([self.process]))

    async def _look(self) -> None:
        """Gives signs of life, and ends the work on what others have ended."""
        while self._running:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(RequestRefused):
                await self._keep_alive(set(self._running))

    async def _keep_alive(self, keys: set[ResponseKey]) -> None:
        alive = await self._stored.run(lambda tables: tables.background.keep_alive(keys))
        for key in keys - alive:
            self.cancel(key)
