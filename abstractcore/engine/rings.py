"""Composes middleware into one function for each ring, without overhead for rings that a middleware does not have."""

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
    """Returns `innermost` wrapped by the method `ring` of each middleware that has it, the first one outermost."""
    composed: Callable[..., Awaitable[Any]] = innermost
    for layer in reversed(middleware):
        method = getattr(layer, ring, None)
        if method is not None:
            composed = partial(method, next=composed)
    return composed
