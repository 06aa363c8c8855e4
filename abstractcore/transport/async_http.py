"""The async transport: one set of connections per event loop, closed when the loop shuts down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, cast

import httpx2

from ..errors import ServerError
from ..schema import WireRequest
from .failures import FAILURES, as_ours
from .messages import check_encoding, cut, lower_headers, to_http
from .settings import Route, Routes, TransportSettings


class _LoopPools:
    """The connections of one event loop, and the generator through which the loop's shutdown closes them."""

    def __init__(self) -> None:
        self.pools: dict[Route, httpx2.AsyncHTTPTransport] = {}
        self.keeper: AsyncGenerator[None] | None = None

    async def close(self) -> None:
        pools, self.pools = self.pools, {}
        for pool in pools.values():
            await pool.aclose()


class AsyncHttpTransport:
    """Connections for any number of event loops, one after the other or at once in several threads.

    A forked child starts with none, and leaves its parent's alone.
    """

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = Routes(settings)
        self._loops: dict[tuple[int, asyncio.AbstractEventLoop], _LoopPools] = {}

    async def open(self, request: WireRequest, timeout: float) -> AsyncHttpBody:
        """Send `request` and read the response's head; `timeout` in seconds bounds each step."""
        try:
            http_request = to_http(request, timeout)
            pool = await self._pool(request.url)
            response = await pool.handle_async_request(http_request)
        except FAILURES as error:
            raise as_ours(error, request.url) from None
        try:
            check_encoding(response)
        except ServerError:
            await response.aclose()
            raise
        return AsyncHttpBody(response, request.url)

    async def close(self) -> None:
        """Close this loop's idle connections."""
        mine = self._loops.pop((os.getpid(), asyncio.get_running_loop()), None)
        if mine is not None and mine.keeper is not None:
            await mine.keeper.aclose()

    async def _pool(self, url: str) -> httpx2.AsyncHTTPTransport:
        place = os.getpid(), asyncio.get_running_loop()
        mine = self._loops.get(place)
        if mine is None:
            mine = await self._start(place)
        route = self._routes.of(url)
        pool = mine.pools.get(route)
        if pool is None:
            scheme, proxy = route
            pool = mine.pools[route] = httpx2.AsyncHTTPTransport(
                verify=self._settings.tls(scheme), limits=self._settings.limits(), proxy=proxy
            )
        return pool

    async def _start(self, place: tuple[int, asyncio.AbstractEventLoop]) -> _LoopPools:
        for other in list(self._loops):  # a copy: other threads add their loops meanwhile
            if other[0] == place[0] and other[1].is_closed():
                self._loops.pop(other, None)
        mine = self._loops[place] = _LoopPools()
        mine.keeper = self._keep(place, mine)
        await anext(mine.keeper)
        return mine

    async def _keep(self, place: tuple[int, asyncio.AbstractEventLoop], mine: _LoopPools) -> AsyncGenerator[None]:
        """Waits to be closed: event loops close the async generators that began in them when they shut down."""
        try:
            yield
        finally:
            if self._loops.get(place) is mine:
                del self._loops[place]
            await mine.close()


class AsyncHttpBody:
    """A response being read."""

    __slots__ = ("_chunks", "_process", "_response", "_url", "headers", "status")

    def __init__(self, response: httpx2.Response, url: str) -> None:
        self._response = response
        self._url = url
        self._process = os.getpid()
        self._chunks: AsyncIterator[bytes] = response.aiter_bytes()
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = lower_headers(response)

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end."""
        try:
            return await anext(self._chunks, b"")
        except FAILURES as error:
            raise as_ours(error, self._url) from None

    async def close(self) -> None:
        """Give the connection back, or cut it if the body is not read to its end."""
        await cast("AsyncGenerator[bytes, Any]", self._chunks).aclose()
        await self._response.aclose()

    def abort(self) -> None:
        """Cut the connection from another thread; in a forked child it is the parent's, and stays."""
        if self._process == os.getpid():
            cut(self._response)
