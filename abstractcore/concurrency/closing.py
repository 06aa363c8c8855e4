"""Closes a resource in the event loop it belongs to, from any thread."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from typing import Any

from .event_loops import LoopLocal

_log = logging.getLogger("abstractcore")


class LoopCloser:
    """Runs `close` in the current event loop: when `soon` is called, and at the latest when the loop shuts down.

    `close` may run again if the task that ran it was cancelled.
    """

    def __init__(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._close = close
        self._process = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._closers = _closers_of_loop.get()
        self._closers.add(self)
        self.task: asyncio.Task[None] | None = None

    def forget(self) -> None:
        """Stops watching the loop: the resource is closed already."""
        self._closers.discard(self)

    def soon(self) -> bool:
        """Starts closing, from any thread. Returns False if the loop is not running, and after a fork."""
        if self._process != os.getpid():
            return False
        try:
            self._loop.call_soon_threadsafe(self._begin)
        except RuntimeError:  # the loop is closed
            return False
        return self._loop.is_running()

    async def run(self) -> None:
        """Closes the resource. An error is logged, since no caller could handle it."""
        try:
            await self._close()
        except Exception:
            _log.exception("closing a dropped resource failed")
        self.forget()

    def _begin(self) -> None:
        if self in self._closers:
            self.task = self._loop.create_task(self.run())


async def _close_all(closers: set[LoopCloser]) -> None:
    tasks = [closer.task for closer in closers if closer.task is not None]
    if tasks:
        await asyncio.wait(tasks)
    for closer in list(closers):  # tasks that have not begun, or were cancelled with all tasks of the loop
        await closer.run()


_closers_of_loop: LoopLocal[set[LoopCloser]] = LoopLocal(set, _close_all)
