"""Middleware composed into one function a ring; code that only hands on costs nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from ..ports import Middleware

In = TypeVar("In")
Out = TypeVar("Out")


def compose(
    middleware: Sequence[Middleware], ring: str, innermost: Callable[[In], Awaitable[Out]]
) -> Callable[[In], Awaitable[Out]]:
    """`innermost` inside the method `ring` of each middleware that has one, the first outermost."""
    composed: Callable[..., Awaitable[Any]] = innermost
    for layer in reversed(middleware):
        method = getattr(layer, ring, None)
        if method is not None:
            composed = partial(method, next=composed)
    return composed
