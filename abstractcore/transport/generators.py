"""Runs nested async generators, with which httpx2 reads bodies, without registering them with the event loop.

A loop that shuts down closes all async generators that began in it concurrently. A nested one is then closed twice at
once, which prints `RuntimeError: aclose(): asynchronous generator is already running`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Generator
from functools import partial
from types import coroutine
from typing import Any


@coroutine
def first_piece(chain: AsyncIterator[bytes]) -> Generator[Any, Any, bytes]:
    """Returns the first item of `chain`, or empty bytes at its end. All nested generators begin before it waits.

    The loop closes a dropped chain as usual: closing the outermost generator closes the nested ones.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=None)
    try:
        steps = anext(chain, b"").__await__()
        sys.set_asyncgen_hooks(finalizer=_ignore)
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


def _ignore(generator: object) -> None:
    """Does nothing. Without this hook, Python would finalize a dropped generator, and warn if that waits."""
