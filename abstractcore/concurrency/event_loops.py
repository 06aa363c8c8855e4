"""Values that belong to one event loop each, and are closed when that loop shuts down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
_Place: TypeAlias = tuple[int, asyncio.AbstractEventLoop]


class _Kept(NamedTuple, Generic[T]):
    value: T
    keeper: AsyncGenerator[None]


class LoopLocal(Generic[T]):
    """One value for each event loop, made when it is first asked for and closed when the loop shuts down.

    The loops may run one after the other, or at once in several threads. A forked child starts with no values, and
    leaves its parent's alone.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._kept: dict[_Place, _Kept[T]] = {}

    def __len__(self) -> int:
        """How many event loops have a value."""
        return len(self._kept)

    def get(self) -> T:
        """The value of the running loop."""
        place = os.getpid(), asyncio.get_running_loop()
        kept = self._kept.get(place)
        if kept is None:
            self._forget_closed_loops()
            value = self._make()
            kept = self._kept[place] = _Kept(value, self._keep(place, value))
            with suppress(StopIteration):  # at its first step the loop takes note of it
                kept.keeper.__anext__().send(None)
        return kept.value

    async def close(self) -> None:
        """Close the running loop's value; a new one is made when it is asked for."""
        kept = self._kept.get((os.getpid(), asyncio.get_running_loop()))
        if kept is not None:
            await kept.keeper.aclose()

    def _forget_closed_loops(self) -> None:
        for place in list(self._kept):  # a copy: other threads add their loops meanwhile
            if place[0] == os.getpid() and place[1].is_closed():
                self._kept.pop(place, None)

    async def _keep(self, place: _Place, value: T) -> AsyncGenerator[None]:
        """Waits to be closed: event loops close the async generators that began in them when they shut down."""
        try:
            yield
        finally:
            self._kept.pop(place, None)
            await self._close(value)
