"""Connections that belong to one event loop each, and are closed when that loop shuts down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

from .settings import Route

PoolT = TypeVar("PoolT")
_Place: TypeAlias = tuple[int, asyncio.AbstractEventLoop]


class _OneLoop(Generic[PoolT]):
    """The pools of one event loop, and the generator through which the loop's shutdown closes them."""

    def __init__(self) -> None:
        self.pools: dict[Route, PoolT] = {}
        self.keeper: AsyncGenerator[None] | None = None


class LoopPools(Generic[PoolT]):
    """Pools for any number of event loops, one after the other or at once in several threads, a pool for each route.

    A forked child starts with none, and leaves its parent's alone.
    """

    def __init__(self, make: Callable[[Route], PoolT], close: Callable[[PoolT], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._loops: dict[_Place, _OneLoop[PoolT]] = {}

    def __len__(self) -> int:
        """How many event loops have pools."""
        return len(self._loops)

    async def of(self, route: Route) -> PoolT:
        """This loop's pool for `route`."""
        place = os.getpid(), asyncio.get_running_loop()
        mine = self._loops.get(place)
        if mine is None:
            mine = await self._start(place)
        pool = mine.pools.get(route)
        if pool is None:
            pool = mine.pools[route] = self._make(route)
        return pool

    async def close(self) -> None:
        """Close this loop's pools; new ones are made when they are needed."""
        mine = self._loops.pop((os.getpid(), asyncio.get_running_loop()), None)
        if mine is not None and mine.keeper is not None:
            await mine.keeper.aclose()

    async def _start(self, place: _Place) -> _OneLoop[PoolT]:
        for other in list(self._loops):  # a copy: other threads add their loops meanwhile
            if other[0] == place[0] and other[1].is_closed():
                self._loops.pop(other, None)
        mine = self._loops[place] = _OneLoop[PoolT]()
        mine.keeper = self._keep(place, mine)
        await anext(mine.keeper)
        return mine

    async def _keep(self, place: _Place, mine: _OneLoop[PoolT]) -> AsyncGenerator[None]:
        """Waits to be closed: event loops close the async generators that began in them when they shut down."""
        try:
            yield
        finally:
            if self._loops.get(place) is mine:
                del self._loops[place]
            pools, mine.pools = mine.pools, {}
            for pool in pools.values():
                await self._close(pool)
