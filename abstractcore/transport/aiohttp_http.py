"""The async transport on aiohttp, which needs less processor time than httpx2 for many concurrent calls."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from weakref import finalize

import aiohttp

from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .aiohttp_failures import FAILURES, map_error
from .aiohttp_pools import AiohttpPool
from .decompression import decompressor_for
from .failures import broken
from .loops import LoopPools
from .messages import UnreadBody, lower_headers, shut_down
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, http_only


class AiohttpTransport:
    """Sends requests with aiohttp, from any number of event loops."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = ProxyRoutes(settings)
        self.secrets = self._routes.secrets
        self.pools = LoopPools(self._pool, AiohttpPool.close)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds; connecting takes ten at most."""
        route = self._routes.of(request.url)
        http_only(route.proxy)
        pool = await self.pools.of(route)
        body = AiohttpBody(await pool.send(request, timeout), pool, request.url, timeout)
        if unexpected_encoding(body.headers) is None:
            return body
        await body.close()
        return UnreadBody(body)

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        await self.pools.close()

    def _pool(self, route: ProxyRoute) -> AiohttpPool:
        return AiohttpPool(self._settings, route)


class AiohttpBody:
    """The body of a response."""

    __slots__ = (
        "__weakref__",
        "_aborted",
        "_decompressed",
        "_decompressor",
        "_dropped",
        "_pool",
        "_process",
        "_response",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(self, response: aiohttp.ClientResponse, pool: AiohttpPool, url: str, timeout: float) -> None:
        self._response = response
        self._pool = pool
        self._url = url
        self._timeout = timeout
        self._process = os.getpid()
        self._aborted = False
        self._dropped = finalize(self, pool.release_soon, response, asyncio.get_running_loop())
        self._dropped.atexit = False
        self.status: int = response.status
        self.headers: Mapping[str, str] = lower_headers(response.raw_headers)
        self._decompressor = decompressor_for(self.headers)
        self._decompressed: Iterator[bytes] = iter(())

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        content = self._response.content
        try:
            piece = next(self._decompressed, b"") or self._unpacked(_arrived(content))
            if not piece and not content.at_eof():
                async with asyncio.timeout(self._timeout):
                    while not piece and not content.at_eof():
                        piece = self._unpacked(await content.readany())
        except FAILURES as error:
            failure = map_error(error, self._url, self._timeout)
        else:
            if not self._aborted:
                return piece
            failure = broken(self._url, "it was closed by the client")
        self._response.close()
        raise failure

    def _unpacked(self, data: bytes) -> bytes:
        """Returns the first decompressed chunk of `data`; the next reads return the others."""
        if self._decompressor is None:
            return data
        self._decompressed = self._decompressor.feed(data)
        return next(self._decompressed, b"")

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        if self._dropped.detach():
            self._pool.release(self._response)

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        connection = self._response.connection
        if self._process == os.getpid() and connection is not None and connection.transport is not None:
            self._aborted = True
            used: socket.socket = connection.transport.get_extra_info("socket")
            # Of uvloop's sockets only the descriptor is of use: they have no `shutdown`.
            with suppress(OSError), socket.socket(fileno=os.dup(used.fileno())) as same:
                shut_down(same)


def _arrived(content: aiohttp.StreamReader) -> bytes:
    """Returns buffered data, also if the connection broke after it."""
    if content.exception() is None:
        return content.read_nowait()
    return content._read_nowait(-1) or content.read_nowait()  # pyright: ignore[reportPrivateUsage]
