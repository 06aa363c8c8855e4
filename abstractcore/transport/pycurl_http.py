"""The sync transport on libcurl, which needs less processor time than httpx2 for calls and for chunks of streams.

`PycurlBody`: the body of a response over libcurl.
"""

from __future__ import annotations

import os
import re
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import httpx2

from ..errors import AbstractCoreError
from ..ports import Body, interruptible
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .failures import (
    CONNECT_SECONDS,
    bad_header,
    broken_connection,
    cannot_unpack,
    connect_timeout,
    no_address,
    pool_timeout,
    read_timeout,
)
from .messages import UnreadBody, decompressor_for, headers_of, lower_headers, parse_url
from .pycurl_connections import CurlConnection, CurlResponse, WireCall
from .pycurl_pools import DEFAULT_PORTS, CurlPool, Origin, failed_before_response, failed_in_body, not_http
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, http_only, proxy_in_use

_in_use: set[CurlConnection] = set()
"""References to connections in use. A body in a reference cycle must close its connection first: without these
references the garbage collector would finalize libcurl's handles and the socket in any order."""


class CurlLease:
    """The use of a connection by one exchange, to be released once. In a forked child it is the parent's."""

    __slots__ = ("_held", "_origin", "_pool", "_process", "connection")

    def __init__(self, pool: CurlPool, origin: Origin, connection: CurlConnection) -> None:
        self._pool = pool
        self._origin = origin
        self._process = os.getpid()
        self._held = True
        self.connection = connection
        _in_use.add(connection)

    def release(self) -> None:
        """Returns the connection to the pool after a complete exchange."""
        if self._take():
            self._pool.release(self._origin, self.connection)

    def discard(self) -> None:
        """Closes the connection."""
        if self._take():
            self._pool.discard(self.connection)

    def _take(self) -> bool:
        held, self._held = self._held, False
        if not held or self._process != os.getpid():
            return False
        _in_use.discard(self.connection)
        return True


class PycurlBody:
    """The body of a response."""

    __slots__ = (
        "_aborted",
        "_decompressed",
        "_decompressor",
        "_exchange",
        "_lease",
        "_lock",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(
        self, lease: CurlLease, exchange: CurlResponse, headers: Mapping[str, str], url: str, timeout: float
    ) -> None:
        self._lease = lease
        self._exchange = exchange
        self._url = url
        self._timeout = timeout
        self._aborted = False
        # Reentrant: a signal handler may close the body in the thread that reads it.
        self._lock = threading.RLock()
        self.status: int = lease.connection.status()
        self.headers = headers
        self._decompressor = decompressor_for(headers)
        self._decompressed: Iterator[bytes] = iter(())
        if not exchange.running:
            lease.release()

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        with self._lock:
            if self._decompressor is None:
                return self._buffered_data()
            try:
                while not (piece := next(self._decompressed, b"")):
                    compressed = self._buffered_data()
                    if not compressed:
                        return b""
                    self._decompressed = self._decompressor.feed(compressed)
                return piece
            except zlib.error:
                failure = cannot_unpack(self._url)
        raise failure

    def _buffered_data(self) -> bytes:
        """Returns all received data that was not read; waits for some if there is none."""
        exchange = self._exchange
        if exchange.running and not exchange.pieces:
            self._wait()
        if self._aborted:
            raise broken_connection(self._url, "it was closed by the client")
        if exchange.pieces:
            arrived = b"".join(exchange.pieces)
            exchange.pieces.clear()
            return arrived
        if exchange.failure is not None:
            raise failed_in_body(exchange.failure, self._url)
        return b""

    def _wait(self) -> None:
        """Waits until data arrives or the exchange ends."""
        exchange, connection = self._exchange, self._lease.connection
        due = time.monotonic() + self._timeout
        try:
            with interruptible(self.abort):
                while exchange.running and not exchange.pieces:
                    connection.advance(exchange, due)
        except TimeoutError:
            failure = read_timeout(self._url, self._timeout)
        else:
            if not exchange.running:
                self._lease.release()
            return
        raise failure

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        if self._lock.acquire(blocking=False):
            try:
                self._lease.discard()
            finally:
                self._lock.release()
        else:
            self.abort()  # another thread reads: its read ends, and releases the connection

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        self._aborted = True
        self._lease.connection.cut(self._exchange)

    def __del__(self) -> None:
        """Closes the connection of a dropped body."""
        self._lease.discard()


_VALID_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):(.*)\n", re.DOTALL)


class PycurlTransport:
    """Sends requests with libcurl. Threads share connections; a forked child does not touch its parent's."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = ProxyRoutes(settings)
        self.secrets = self._routes.secrets
        self._pools: dict[tuple[int, ProxyRoute], CurlPool] = {}

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds; connecting takes ten at most."""
        due = time.monotonic() + timeout
        target = _target(request.url)
        if not all(map(_VALID_HEADER_VALUE.fullmatch, request.headers.values())):
            raise bad_header()
        route = self._routes.of(request.url)
        http_only(route.proxy)
        lease = self._lease(route, target, request.url, timeout)
        try:
            exchange = self._head(lease, _wire_call(request, target, due, timeout), request.url, due, timeout)
            body = PycurlBody(lease, exchange, lower_headers(_fields(exchange, request.url)), request.url, timeout)
        except BaseException:
            lease.discard()
            raise
        if unexpected_encoding(body.headers) is None:
            return body
        lease.discard()
        return UnreadBody(body)

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

    def _pool(self, route: ProxyRoute) -> CurlPool:
        key = os.getpid(), route
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools.setdefault(key, CurlPool(self._settings, route))
        return pool

    def _lease(self, route: ProxyRoute, target: _CurlTarget, url: str, timeout: float) -> CurlLease:
        pool = self._pool(route)
        try:
            return CurlLease(pool, target.origin, pool.acquire(target.origin, timeout))
        except TimeoutError:
            failure = pool_timeout(url, timeout)
        raise failure

    def _head(self, lease: CurlLease, call: WireCall, url: str, due: float, timeout: float) -> CurlResponse:
        """Returns the exchange after the head of the response has been read."""
        connection = lease.connection
        exchange = connection.begin(call)
        late = False
        try:
            with interruptible(lambda: connection.cut(exchange)):
                while exchange.running and not exchange.head_is_complete:
                    connection.advance(exchange, due)
        except TimeoutError:
            late = True
        if exchange.head_is_complete:
            return exchange
        proxy = proxy_in_use(self._settings, self._routes.of(url))
        failure: AbstractCoreError
        if not late:
            failure = failed_before_response(connection, exchange, url, timeout, proxy)
        elif exchange.connecting:
            failure = connect_timeout(url, timeout, proxy)
        else:
            failure = read_timeout(url, timeout)
        raise failure


class _CurlTarget(NamedTuple):
    """A URL for libcurl, and its origin."""

    url: str
    origin: Origin


@lru_cache(maxsize=256)
def _target(url: str) -> _CurlTarget:
    """Returns `url` escaped as for httpx2, and without userinfo: credentials go into headers."""
    try:
        address = parse_url(url)
    except httpx2.InvalidURL:
        address = None
    if address is None or address.scheme not in DEFAULT_PORTS:
        raise no_address(url)
    full_url = f"{address.scheme}://{address.netloc.decode('ascii')}{address.raw_path.decode('ascii')}"
    port = address.port or DEFAULT_PORTS[address.scheme]
    return _CurlTarget(full_url, Origin(address.scheme, address.raw_host.decode("ascii"), port))


def _wire_call(request: WireRequest, target: _CurlTarget, due: float, timeout: float) -> WireCall:
    """Returns the request with all its headers, and empty ones to suppress those that libcurl would add."""
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in headers_of(request)]
    if "content-type" not in request.headers:
        lines.append("content-type:")
    lines.append("expect:")
    connect_due = due - timeout + min(timeout, CONNECT_SECONDS)
    return WireCall(request.method, target.url, lines, request.body, connect_due)


def _fields(exchange: CurlResponse, url: str) -> Iterator[tuple[bytes, bytes]]:
    for line in exchange.head[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise not_http(url)
        yield field[1], field[2].removesuffix(b"\r").strip(b" \t")
