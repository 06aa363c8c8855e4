"""The async transport on httpx2: one set of connections per event loop, closed when the loop shuts down."""

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
from .failures import FAILURES, as_ours, broken
from .generators import first_piece
from .http_pools import async_pool
from .leases import Loan
from .loops import LoopPools
from .messages import UnreadBody, cut_after_surplus, head_of, to_http
from .settings import Route, Routes, TransportSettings, proxy_in_use
from .timeouts import step_seconds


class AsyncHttpTransport:
    """Connections of httpx2 for any number of event loops."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = Routes(settings)
        self.secrets = self._routes.secrets
        self.pools = LoopPools(self._pool, httpcore2.AsyncConnectionPool.aclose)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request` and read the response's head in `timeout` seconds; connecting has ten at most."""
        loan = Loan()
        try:
            http_request = to_http(request, step_seconds(timeout), loan.atrace)
            pool = await self.pools.of(self._routes.of(request.url))
            response = await loan.within(timeout, pool.handle_async_request(http_request))
        except TimeoutError:
            failure = loan.too_late(request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        except FAILURES as error:
            failure = as_ours(error, request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        else:
            return await begun(response, request.url, loan, timeout)
        raise failure

    async def close(self) -> None:
        """Close this loop's connections."""
        await self.pools.close()

    def _pool(self, route: Route) -> httpcore2.AsyncConnectionPool:
        return async_pool(self._settings, route)


async def begun(response: httpx2.Response | httpcore2.Response, url: str, loan: Loan, timeout: float) -> Body:
    """The body of a response whose head has been read."""
    body = AsyncHttpBody(response, url, loan, timeout)
    if unexpected_encoding(body.headers) is None:
        return body
    await response.aclose()
    return UnreadBody(body)


def _chunks(response: httpx2.Response | httpcore2.Response, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """The body, decompressed."""
    if isinstance(response, httpcore2.Response):
        pieces = _pieces(response)
    elif response.is_stream_consumed:  # by a hook of the user's client
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
    """The body as it comes. The connection is given back at its end, and also when what is left of it is dropped."""
    try:
        async for piece in cast("AsyncIterable[bytes]", response.stream):
            yield piece
    finally:
        cut_after_surplus(response)
        await response.aclose()


class AsyncHttpBody:
    """A response being read."""

    __slots__ = (
        "_aborted",
        "_begun",
        "_chunks",
        "_closing",
        "_loan",
        "_response",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(self, response: httpx2.Response | httpcore2.Response, url: str, loan: Loan, timeout: float) -> None:
        self._response = response
        self._url = url
        self._loan = loan
        self._timeout = timeout
        self._aborted = False
        self._begun = False
        self._closing = False
        self.status, self.headers = head_of(response)
        self._chunks = _chunks(response, self.headers)

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end."""
        try:
            if self._begun:
                piece = await anext(self._chunks, b"")
            else:
                self._begun = True
                piece = await first_piece(self._chunks)
        except FAILURES as error:
            failure = as_ours(error, self._url, self._timeout)
        else:
            if not self._aborted:
                return piece
            failure = broken(self._url, "it was cut on this side")
        raise failure

    async def close(self) -> None:
        """Give the connection back, or cut it if the body is not read to its end."""
        if self._closing:  # in another task
            return
        self._closing = True
        try:
            await cast("AsyncGenerator[bytes, Any]", self._chunks).aclose()
            await self._response.aclose()
        finally:
            self._closing = False

    def abort(self) -> None:
        """Cut the connection from another thread; in a forked child it is the parent's, and stays."""
        self._aborted = self._loan.cut(self._response)
