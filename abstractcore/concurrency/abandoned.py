"""Functions in threads of their own, which may still run after their caller stopped waiting."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

from .idle_threads import IDLE_THREADS

T = TypeVar("T")
_log = logging.getLogger("abstractcore")


class AbandonedWork:
    """Counts functions that still run after their caller stopped waiting. A forked child starts at zero."""

    def __init__(self) -> None:
        self._works: dict[Future[Any], int] = {}

    def __len__(self) -> int:
        return list(self._works.values()).count(os.getpid())

    def add(self, function: Callable[..., object], work: Future[Any]) -> bool:
        """Counts `work`, a call of `function`, until it ends, and logs a warning. Work that has not begun is cancelled
        instead. Returns whether it still runs."""
        if work.cancel() or work.done():
            return False
        self._works[work] = os.getpid()
        work.add_done_callback(self._works.pop)
        _log.warning(
            "%s is still running in a background thread after its call ended (%d such now)",
            name_of(function),
            len(self),
        )
        return True


def in_thread(work: Future[T], context: Context, function: Callable[..., T], arguments: tuple[object, ...]) -> None:
    """Starts a call in a daemon thread. `work` gets its result or exception, unless cancelled before."""
    IDLE_THREADS.start(lambda: context.run(run, work, function, arguments))


def run(work: Future[T], function: Callable[..., T], arguments: tuple[object, ...]) -> None:
    """Calls `function`. `work` gets its result or exception, unless it was cancelled before."""
    if not work.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except StopIteration as error:  # an event loop cannot pass it on: the caller would wait forever
        failure = RuntimeError(f"{name_of(function)} raised StopIteration")
        failure.__cause__ = error
        work.set_exception(failure)
    except BaseException as error:
        work.set_exception(error)
    else:
        work.set_result(result)


def name_of(function: Callable[..., object]) -> str:
    """Returns the name of a function, for messages."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__name__
