"""Per-event-loop values, closed when their loop shuts down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
_Key: TypeAlias = tuple[int, asyncio.AbstractEventLoop]


class _LoopValue(NamedTuple, Generic[T]):
    value: T
    keeper: AsyncGenerator[None]


class LoopLocal(Generic[T]):
    """One value for each event loop, created on first use and closed when the loop shuts down.

    The loops may run one after the other, or at once in several threads. A forked child starts with no values, and does
    not touch its parent's.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._kept: dict[_Key, _LoopValue[T]] = {}

    def __len__(self) -> int:
        """Returns the number of event loops that have a value."""
        return len(self._kept)

    def get(self) -> T:
        """Returns the value of the running loop."""
        key = os.getpid(), asyncio.get_running_loop()
        kept = self._kept.get(key)
        if kept is None:
            self._forget_closed_loops()
            value = self._make()
            kept = self._kept[key] = _LoopValue(value, self._keep(key, value))
            with suppress(StopIteration):  # its first step registers it with the loop
                kept.keeper.__anext__().send(None)
        return kept.value

    async def close(self) -> None:
        """Closes the value of the running loop; the next `get` creates a new one."""
        kept = self._kept.get((os.getpid(), asyncio.get_running_loop()))
        if kept is not None:
            await kept.keeper.aclose()

    def _forget_closed_loops(self) -> None:
        for key in list(self._kept):  # a copy: other threads may add their loops
            if key[0] == os.getpid() and key[1].is_closed():
                self._kept.pop(key, None)

    async def _keep(self, key: _Key, value: T) -> AsyncGenerator[None]:
        """Waits to be closed: a loop that shuts down closes the async generators that began in it."""
        try:
            yield
        finally:
            self._kept.pop(key, None)
            await self._close(value)
