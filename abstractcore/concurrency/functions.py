"""Calls users' functions, sync or async, with a timeout."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .abandoned import name_of

T = TypeVar("T")


def is_async(function: Callable[..., object]) -> bool:
    """Returns whether the function is a coroutine function, which does not block when called."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def late(function: Callable[..., object], timeout: float | None) -> TimeoutError:
    """Returns the error for a function that did not finish in `timeout` seconds."""
    return TimeoutError(f"{name_of(function)} did not finish in {timeout or 0.0:g} s")


async def in_time(function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None) -> T:
    """Awaits `make()`; raises `TimeoutError`, which names `function`, after `timeout` seconds."""
    import asyncio

    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await make()
    except TimeoutError:
        if limit.expired():
            raise late(function, timeout) from None
        raise
