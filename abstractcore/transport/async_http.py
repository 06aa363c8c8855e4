"""The async transport on httpx2: one connection pool per event loop, closed when the loop shuts down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, cast

import httpcore2
import httpx2

from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .decompression import Decompressor, decompressor_for
from .failures import FAILURES, broken, map_error
from .generators import first_piece
from .http_pools import async_pool
from .leases import ConnectionLease
from .loops import LoopPools
from .messages import UnreadBody, close_after_surplus, head_of, to_http
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, proxy_in_use
from .timeouts import step_seconds


class AsyncHttpTransport:
    """Sends requests with httpx2, from any number of event loops."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = ProxyRoutes(settings)
        self.secrets = self._routes.secrets
        self.pools = LoopPools(self._pool, httpcore2.AsyncConnectionPool.aclose)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds; connecting takes ten at most."""
        lease = ConnectionLease()
        try:
            http_request = to_http(request, step_seconds(timeout), lease.atrace)
            pool = await self.pools.of(self._routes.of(request.url))
            response = await lease.within(timeout, pool.handle_async_request(http_request))
        except TimeoutError:
            failure = lease.timeout_error(
                request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url))
            )
        except FAILURES as error:
            failure = map_error(error, request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        else:
            return await response_body(response, request.url, lease, timeout)
        raise failure

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        await self.pools.close()

    def _pool(self, route: ProxyRoute) -> httpcore2.AsyncConnectionPool:
        return async_pool(self._settings, route)


async def response_body(
    response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeout: float
) -> Body:
    """Returns the body of a response whose head has been read."""
    body = AsyncHttpBody(response, url, lease, timeout)
    if unexpected_encoding(body.headers) is None:
        return body
    await response.aclose()
    return UnreadBody(body)


def _chunks(response: httpx2.Response | httpcore2.Response, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """Yields the decompressed body."""
    if isinstance(response, httpcore2.Response):
        pieces = _pieces(response)
    elif response.is_stream_consumed:  # read by an event hook of the user's client
        return response.aiter_bytes()
    else:
        pieces = response.aiter_raw()
    decompressor = decompressor_for(headers)
    return pieces if decompressor is None else _decompressed(pieces, decompressor)


async def _decompressed(pieces: AsyncIterator[bytes], decompressor: Decompressor) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[bytes]", pieces)):
        async for packed in pieces:
            for piece in decompressor.feed(packed):
                yield piece


async def _pieces(response: httpcore2.Response) -> AsyncIterator[bytes]:
    """Yields the body as received. The connection is released at its end, and when the rest is dropped."""
    try:
        async for piece in cast("AsyncIterable[bytes]", response.stream):
            yield piece
    finally:
        close_after_surplus(response)
        await response.aclose()


class AsyncHttpBody:
    """The body of a response."""

    __slots__ = (
        "_aborted",
        "_begun",
        "_chunks",
        "_closing",
        "_lease",
        "_response",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(
        self, response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeout: float
    ) -> None:
        self._response = response
        self._url = url
        self._lease = lease
        self._timeout = timeout
        self._aborted = False
        self._begun = False
        self._closing = False
        self.status, self.headers = head_of(response)
        self._chunks = _chunks(response, self.headers)

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        try:
            if self._begun:
                piece = await anext(self._chunks, b"")
            else:
                self._begun = True
                piece = await first_piece(self._chunks)
        except FAILURES as error:
            failure = map_error(error, self._url, self._timeout)
        else:
            if not self._aborted:
                return piece
            failure = broken(self._url, "it was closed by the client")
        raise failure

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        if self._closing:  # in another task
            return
        self._closing = True
        try:
            await cast("AsyncGenerator[bytes, Any]", self._chunks).aclose()
            await self._response.aclose()
        finally:
            self._closing = False

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        self._aborted = self._lease.cut(self._response)
