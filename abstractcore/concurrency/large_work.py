"""`off_loop`: work that grows with what others send runs beside the event loop, once there is much of it."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import TypeVar

from ..ports import Runtime

T = TypeVar("T")
_MOST_ITEMS = 100
_MOST_BYTES = 16 * 1024
"""A body of so many bytes may have a few hundred items; reading and writing them takes a few milliseconds."""


def is_large(content: Sized) -> bool:
    """Whether work on a list of items, or on bytes or text, may take longer than an event loop should wait."""
    return len(content) > (_MOST_BYTES if isinstance(content, bytes | bytearray | str) else _MOST_ITEMS)


async def off_loop(runtime: Runtime, large: bool, function: Callable[..., T], *arguments: object) -> T:
    """Returns the result of a function. `large` work runs in a worker thread, so that the event loop goes on."""
    return await runtime.call(function, *arguments) if large else function(*arguments)
