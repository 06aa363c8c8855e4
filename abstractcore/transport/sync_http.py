"""The sync transport on httpx2: its coroutines never suspend, so sync code can run them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import cast

import httpcore2
import httpx2

from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .decompression import Decompressor, decompressor_for
from .failures import FAILURES, broken, map_error
from .http_pools import sync_pool
from .leases import ConnectionLease
from .messages import UnreadBody, close_after_surplus, head_of, to_http
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, proxy_in_use
from .sync_network import AddressCheck
from .timeouts import Timeouts


class SyncHttpTransport:
    """Sends requests with httpx2. Threads share connections; a forked child does not touch its parent's.

    `check` gets each host and its addresses before they are connected to, unless a proxy connects.
    """

    def __init__(self, settings: TransportSettings, check: AddressCheck | None = None) -> None:
        self._settings = settings
        self._check = check
        self._routes = ProxyRoutes(settings)
        self.secrets = self._routes.secrets
        self._pools: dict[tuple[int, ProxyRoute], httpcore2.ConnectionPool] = {}

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds; connecting takes ten at most."""
        lease, timeouts = ConnectionLease(), Timeouts(timeout)
        try:
            http_request = to_http(request, timeouts)
            response = self._pool(request.url).handle_request(http_request)
        except FAILURES as error:
            failure = map_error(error, request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        else:
            lease.begin()
            # Only the release is traced: the other events would cost 10 us per call.
            cast("dict[str, object]", http_request.extensions)["trace"] = lease.trace
            return response_body(response, request.url, lease, timeouts)
        raise failure

    async def close(self) -> None:
        """Closes idle connections."""
        self.close_now()

    def close_now(self) -> None:
        """Closes idle connections, in sync code."""
        for key in list(self._pools):
            if key[0] == os.getpid():
                pool = self._pools.pop(key, None)
                if pool is not None:
                    pool.close()

    def _pool(self, url: str) -> httpcore2.ConnectionPool:
        route = self._routes.of(url)
        key = os.getpid(), route
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools.setdefault(key, sync_pool(self._settings, route, self._check))
        return pool


def response_body(
    response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeouts: Timeouts
) -> Body:
    """Returns the body of a response whose head has been read."""
    body = SyncHttpBody(response, url, lease, timeouts)
    if unexpected_encoding(body.headers) is None:
        return body
    response.close()
    return UnreadBody(body)


def _chunks(response: httpx2.Response | httpcore2.Response, headers: Mapping[str, str]) -> Iterator[bytes]:
    """Yields the decompressed body."""
    if isinstance(response, httpcore2.Response):
        pieces = _pieces(response)
    elif response.is_stream_consumed:  # read by an event hook of the user's client
        return response.iter_bytes()
    else:
        pieces = response.iter_raw()
    decompressor = decompressor_for(headers)
    return pieces if decompressor is None else _decompressed(pieces, decompressor)


def _decompressed(pieces: Iterator[bytes], decompressor: Decompressor) -> Iterator[bytes]:
    with closing(cast("Generator[bytes]", pieces)):
        for piece in pieces:
            yield from decompressor.feed(piece)


def _pieces(response: httpcore2.Response) -> Iterator[bytes]:
    """Yields the body as received. The connection is released at its end, and when the rest is dropped."""
    try:
        yield from cast("Iterable[bytes]", response.stream)
    finally:
        close_after_surplus(response)
        response.close()


class SyncHttpBody:
    """The body of a response."""

    __slots__ = ("_aborted", "_chunks", "_lease", "_response", "_timeouts", "_url", "headers", "status")

    def __init__(
        self, response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeouts: Timeouts
    ) -> None:
        self._response = response
        self._url = url
        self._lease = lease
        self._timeouts = timeouts
        self._aborted = False
        self.status, self.headers = head_of(response)
        self._chunks = _chunks(response, self.headers)

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        self._timeouts.restart()
        try:
            piece = next(self._chunks, b"")
        except FAILURES as error:
            failure = map_error(error, self._url, self._timeouts.seconds)
        else:
            if not self._aborted:
                return piece
            failure = broken(self._url, "it was closed by the client")
        raise failure

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        close_generator = getattr(cast(object, self._chunks), "close", None)
        try:
            if close_generator is not None:
                close_generator()
            self._response.close()
        except ValueError:
            # Another thread is inside the generator: shutting its socket down ends the read, which then closes.
            self.abort()

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        self._aborted = self._lease.cut(self._response)
