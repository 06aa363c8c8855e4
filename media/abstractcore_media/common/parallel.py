"""Runs a function on several items at once, in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(function: Callable[[T], R], items: Iterable[T], at_once: int) -> Generator[tuple[T, R]]:
    """Yields each item with its result, in the order of `items`, of which up to `at_once` are held.

    The first error is raised, when the other calls that run have ended.
    """
    if at_once == 1:
        yield from ((item, function(item)) for item in items)
        return
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(copy_context().run, function, item)))
                if len(waiting) == at_once:
                    first, result = waiting.popleft()
                    yield first, result.result()
            while waiting:
                first, result = waiting.popleft()
                yield first, result.result()
        finally:
            for _, result in waiting:
                result.cancel()
