"""Which event loops stand still because their thread waits: asking one of them for work would never end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from contextvars import Context, ContextVar, copy_context


class _Wait:
    """One wait, from its beginning to its end, when it lets go of the loop that stood still."""

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop: asyncio.AbstractEventLoop | None = loop


_waits: ContextVar[tuple[_Wait, ...]] = ContextVar("abstractcore_waits", default=())


@contextlib.contextmanager
def waiting() -> Generator[Context]:
    """Around a wait of this thread: gives a copy of the context for what it waits for, which so knows of the wait."""
    context = copy_context()
    loop = _running_loop()
    if loop is None:
        yield context
        return
    wait = _Wait(loop)
    context.run(_waits.set, (*_waits.get(), wait))
    try:
        yield context
    finally:
        wait.loop = None


def stands_still(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether `loop` cannot go on until the code of now has ended."""
    return loop is _running_loop() or any(wait.loop is loop for wait in _waits.get())


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
