"""Connection pools of event loops, closed when their loop shuts down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Generic, TypeVar

from ..concurrency.event_loops import LoopLocal
from .settings import ProxyRoute

PoolT = TypeVar("PoolT")


class LoopPools(Generic[PoolT]):
    """Pools by event loop and route. A forked child does not touch its parent's."""

    def __init__(self, make: Callable[[ProxyRoute], PoolT], close: Callable[[PoolT], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._loops: LoopLocal[dict[ProxyRoute, PoolT]] = LoopLocal(dict, self._close_pools)

    def __len__(self) -> int:
        """Returns the number of event loops that have pools."""
        return len(self._loops)

    async def of(self, route: ProxyRoute) -> PoolT:
        """Returns the pool of the running loop for `route`."""
        pools = self._loops.get()
        pool = pools.get(route)
        if pool is None:
            pool = pools[route] = self._make(route)
        return pool

    async def close(self) -> None:
        """Closes the pools of the running loop; later calls create new ones."""
        await self._loops.close()

    async def _close_pools(self, pools: dict[ProxyRoute, PoolT]) -> None:
        async with AsyncExitStack() as stack:
            for pool in pools.values():
                stack.push_async_callback(self._close, pool)
