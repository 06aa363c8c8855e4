"""Chains of async generators, as httpx2 reads a body with, that event loops are not to know of.

A loop that shuts down closes all async generators that began in it, and all at the same time. One that is inside
another is then closed twice at once, which prints `RuntimeError: aclose(): asynchronous generator is already running`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Generator
from functools import partial
from types import coroutine
from typing import Any


@coroutine
def first_piece(chain: AsyncIterator[bytes]) -> Generator[Any, Any, bytes]:
    """The first piece of `chain`, or nothing at its end. All generators of the chain begin before it waits.

    A chain that is dropped is closed by the loop as usual. Of what is inside it nothing runs then by itself: closing
    the outermost generator closes it.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=None)
    try:
        steps = anext(chain, b"").__await__()
        sys.set_asyncgen_hooks(finalizer=_leave)
        waits_for = next(steps)
    except StopIteration as stop:
        return stop.value
    finally:
        sys.set_asyncgen_hooks(*hooks)
    while True:
        try:
            sent = yield waits_for
        except BaseException as error:
            step = partial(steps.throw, error)
        else:
            step = partial(steps.send, sent)
        try:
            waits_for = step()
        except StopIteration as stop:
            return stop.value


def _leave(generator: object) -> None:
    """Nothing: without this, Python would run the end of a dropped generator, and complain where that waits."""
