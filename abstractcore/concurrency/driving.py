"""Runs coroutines that never suspend without an event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends to its end, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    failure = RuntimeError(
        "a coroutine awaited an event loop in a sync call: use the async API, as in `await llm.agenerate(...)`"
    )
    try:
        coroutine.throw(failure)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise failure


async def as_coroutine(thunk: Callable[[], Awaitable[T]]) -> T:
    """Awaits the result of `thunk`."""
    return await thunk()
