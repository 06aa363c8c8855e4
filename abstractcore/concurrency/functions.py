"""Users' functions, plain or async: what is to be known of one before it is called, and the time it has."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .abandoned import name_of

T = TypeVar("T")


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it only makes a coroutine, and so cannot block."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def late(function: Callable[..., object], timeout: float | None) -> TimeoutError:
    """The error for a function that did not finish in its time."""
    return TimeoutError(f"{name_of(function)} did not finish in {timeout or 0.0:g} s")


async def in_time(function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None) -> T:
    """What `make` gives on behalf of `function`, which is named in the `TimeoutError` after `timeout` seconds."""
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await make()
    except TimeoutError:
        if limit.expired():
            raise late(function, timeout) from None
        raise
