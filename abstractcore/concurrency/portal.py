"""Async functions called from plain code: they run in an event loop in a thread behind it."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..errors import ConfigurationError
from .abandoned import Abandoned, name_of
from .functions import late
from .loop_thread import LoopTask, LoopThread
from .waiting import stands_still, waiting

T = TypeVar("T")
_CLEANING_UP_SECONDS = 1.0
"""How long a function that was cancelled is waited for."""


class Portal:
    """One event loop in a thread, begun when it is first needed; a forked child begins its own.

    There are no locks in it, which a fork could leave locked for ever.
    """

    def __init__(self, abandoned: Abandoned) -> None:
        self._abandoned = abandoned
        self._threads: dict[int, LoopThread] = {}

    def run(self, function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None) -> T:
        """What `make` gives in the loop on behalf of `function`, in a copy of this context.

        It is cancelled after `timeout` seconds, which raises `TimeoutError`, and on Ctrl-C. Raises
        `ConfigurationError` where this would wait for ever.
        """
        thread = self._thread()
        if stands_still(thread.loop):
            raise ConfigurationError(
                f"{name_of(function)} would wait for ever: its event loop stands still until this call has ended.",
                hint="In async code use the async API: `await llm.agenerate(...)` in place of `llm.generate(...)`.",
            )
        task = LoopTask(function, make, timeout)
        with waiting() as context:
            try:
                context.run(thread.begin, task)
                patience = None if timeout is None else timeout + _CLEANING_UP_SECONDS
                ended = concurrent.futures.wait([task.result], patience).done
            finally:
                self._let_go(thread, task)
        if not ended:
            raise late(function, timeout)
        return task.result.result()

    def close(self) -> None:
        """Cancel what runs and end the thread; the next call begins another."""
        thread = self._threads.pop(os.getpid(), None)
        if thread is not None:
            thread.stop()
            thread.join(_CLEANING_UP_SECONDS)

    def _let_go(self, thread: LoopThread, task: LoopTask[Any]) -> None:
        """Nobody waits for `task` any more: if it has not ended, it is to."""
        if not task.result.done():
            thread.cancel(task)
            concurrent.futures.wait([task.result], _CLEANING_UP_SECONDS)
            self._abandoned.add(task.function, task.result)

    def _thread(self) -> LoopThread:
        """This process's thread."""
        thread = self._threads.get(os.getpid())
        if thread is None:
            new = LoopThread()
            new.start(self)
            thread = self._threads.setdefault(os.getpid(), new)
            if thread is not new:
                new.stop()
        return thread
