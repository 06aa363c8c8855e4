"""Calls async functions from sync code, in an event loop in a background thread."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ConfigurationError
from .functions import function_timeout
from .waiting import is_blocked, wait_for, waiting
from .workers import AbandonedWork, name_of

if TYPE_CHECKING:
    from .loop_thread import LoopTask, LoopThread

T = TypeVar("T")
_CLEANING_UP_SECONDS = 1.0
"""How long to wait for a cancelled function."""


class Portal:
    """An event loop in a thread, started when first needed; a forked child starts its own.

    It has no locks, which a fork could leave locked forever.
    """

    def __init__(self, abandoned: AbandonedWork) -> None:
        self._abandoned = abandoned
        self._threads: dict[int, LoopThread] = {}

    def run(self, function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None) -> T:
        """Awaits `make()` for `function` in the loop, in a copy of this context.

        It is cancelled after `timeout` seconds, which raises `TimeoutError`, and on Ctrl-C. Raises
        `ConfigurationError` where this would wait forever.
        """
        from .loop_thread import LoopTask

        thread = self._thread()
        if is_blocked(thread.loop):
            raise ConfigurationError(
                f"{name_of(function)} would wait forever: its event loop is blocked until this call ends.",
                hint="In async code use the async API: `await llm.agenerate(...)` in place of `llm.generate(...)`.",
            )
        task = LoopTask(function, make, timeout)
        with waiting() as context:
            try:
                context.run(thread.begin, task)
                patience = None if timeout is None else timeout + _CLEANING_UP_SECONDS
                ended = wait_for([task.result], patience)
            finally:
                self._discard(thread, task)
        if not ended:
            raise function_timeout(function, timeout)
        return task.result.result()

    def close(self) -> None:
        """Cancels what runs and ends the thread; the next call starts a new one."""
        thread = self._threads.pop(os.getpid(), None)
        if thread is not None:
            thread.stop()
            thread.join(_CLEANING_UP_SECONDS)

    def _discard(self, thread: LoopThread, task: LoopTask[Any]) -> None:
        """Cancels `task` unless it has ended: no caller waits for it."""
        if not task.result.done():
            thread.cancel(task)
            concurrent.futures.wait([task.result], _CLEANING_UP_SECONDS)
            self._abandoned.add(task.function, task.result)

    def _thread(self) -> LoopThread:
        """Returns this process's thread."""
        thread = self._threads.get(os.getpid())
        if thread is None:
            from .loop_thread import LoopThread

            new = LoopThread()
            new.start(self)
            thread = self._threads.setdefault(os.getpid(), new)
            if thread is not new:
                new.stop()
        return thread
