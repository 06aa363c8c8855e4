"""`SharedItems`: items of an iterator that several threads, or tasks of one event loop, take one by one."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
_END = object()


class SharedItems(Generic[T]):
    """Items with their positions. No item is read before somebody takes it; a failure of the iterator ends them.

    An async iterator is for tasks of one event loop, any other one for threads too.
    """

    def __init__(self, items: Iterable[T] | AsyncIterable[T]) -> None:
        is_async = isinstance(items, AsyncIterable)
        self._items: Iterator[T] | AsyncIterator[T] = aiter(items) if is_async else iter(items)
        self._lock = threading.Lock()
        self._turn: asyncio.Lock | None = None
        self._taken = 0
        self._ended = self._closed = False

    async def take(self) -> tuple[int, T] | None:
        """Returns the position of the next item and the item; None at the end. Raises what the iterator raises."""
        items = self._items
        if isinstance(items, Iterator):
            with self._lock:
                return self._noted(_END if self._is_over() else next(items, _END))
        if self._turn is None:
            import asyncio

            self._turn = asyncio.Lock()  # an async generator refuses to be read twice at once
        async with self._turn:
            return self._noted(_END if self._is_over() else await anext(items, _END))

    def end(self) -> None:
        """Ends the items: `take` returns None."""
        self._closed = True

    def _is_over(self) -> bool:
        """Returns whether the items have ended; until one is noted, they have."""
        over, self._ended = self._ended or self._closed, True
        return over

    def _noted(self, item: object) -> tuple[int, T] | None:
        if item is _END:
            return None
        self._ended = False
        self._taken += 1
        return self._taken - 1, item  # pyright: ignore[reportReturnType]
