"""The sync transport on libcurl, which needs less processor time than httpx2 for calls and for chunks of streams."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import httpx2

from ..errors import AbstractCoreError
from ..ports import Body, interruptible
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .failures import bad_header, connect_timeout, no_address, pool_timeout, read_timeout
from .messages import UnreadBody, headers_of, lower_headers, parsed
from .pycurl_bodies import CurlLease, PycurlBody
from .pycurl_connections import CurlResponse, WireCall
from .pycurl_failures import failed_before_response, not_http
from .pycurl_pools import DEFAULT_PORTS, CurlPool, Origin
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, http_only, proxy_in_use
from .timeouts import CONNECT_SECONDS

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
            body = PycurlBody(lease, exchange, _headers(exchange, request.url), request.url, timeout)
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
        address = parsed(url)
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


def _headers(exchange: CurlResponse, url: str) -> Mapping[str, str]:
    return lower_headers(_fields(exchange, url))


def _fields(exchange: CurlResponse, url: str) -> Iterator[tuple[bytes, bytes]]:
    for line in exchange.head[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise not_http(url)
        yield field[1], field[2].removesuffix(b"\r").strip(b" \t")
