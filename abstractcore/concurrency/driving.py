"""Coroutines that never suspend, run without an event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    failure = RuntimeError("code called through the sync API waited for an event loop: use the async API with it")
    try:
        coroutine.throw(failure)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise failure


async def as_coroutine(thunk: Callable[[], Awaitable[T]]) -> T:
    """What the thunk's awaitable gives, as a coroutine."""
    return await thunk()
