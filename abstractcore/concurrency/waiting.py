"""Tracks event loops that are blocked because their thread waits: work for one of them would never begin."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class _Wait:
    """One wait; at its end it drops its reference to the blocked loop."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop: asyncio.AbstractEventLoop | None = loop


_waits: ContextVar[tuple[_Wait, ...]] = ContextVar("abstractcore_waits", default=())


def waiting() -> AbstractContextManager[Context]:
    """Marks a wait of this thread; yields a copy of the context, marked too, for the work that it waits for."""
    context, loop = copy_context(), _running_loop()
    return nullcontext(context) if loop is None else _blocking(loop, context)


@contextmanager
def _blocking(loop: asyncio.AbstractEventLoop, context: Context) -> Generator[Context]:
    wait = _Wait(loop)
    context.run(_waits.set, (*_waits.get(), wait))
    try:
        yield context
    finally:
        wait.loop = None


def is_blocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Returns whether `loop` is blocked until the current code ends."""
    return loop is _running_loop() or any(wait.loop is loop for wait in _waits.get())


def _running_loop() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:  # nothing has started a loop
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
