"""Functions in threads of their own, which may outlive whoever waits for them."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")
_log = logging.getLogger("abstractcore")


class Abandoned:
    """What still runs though nobody waits for it any more: it cannot be stopped. A forked child begins with nothing."""

    def __init__(self) -> None:
        self._works: dict[Future[Any], int] = {}

    def __len__(self) -> int:
        return list(self._works.values()).count(os.getpid())

    def add(self, function: Callable[..., object], work: Future[Any]) -> bool:
        """Count `work`, a call of `function`, until it ends, and warn of it. What has not begun is cancelled instead,
        and what has ended is none. Whether it still runs."""
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
    """Begin a call in a thread that holds up no program's end; `work` gets what comes of it, unless it is cancelled
    before it begins.
    """
    name = f"abstractcore-{name_of(function)}"
    threading.Thread(target=context.run, args=(run, work, function, arguments), name=name, daemon=True).start()


def run(work: Future[T], function: Callable[..., T], arguments: tuple[object, ...]) -> None:
    """Call `function` here; `work` gets its result or what it raises, unless it was cancelled before."""
    if not work.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except StopIteration as error:  # no event loop can pass it on: who waits there would wait for ever
        failure = RuntimeError(f"{name_of(function)} raised StopIteration")
        failure.__cause__ = error
        work.set_exception(failure)
    except BaseException as error:
        work.set_exception(error)
    else:
        work.set_result(result)


def name_of(function: Callable[..., object]) -> str:
    """Its name, for messages."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__name__
