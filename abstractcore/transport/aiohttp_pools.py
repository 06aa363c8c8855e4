"""aiohttp's connection pools of one event loop."""

from __future__ import annotations

import asyncio
import io
import os
import re
import socket
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import aiohttp
import httpx2
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.tracing import Trace
from multidict import CIMultiDict

from ..errors import AbstractCoreError
from ..schema import WireRequest
from .aiohttp_failures import FAILURES, map_error
from .failures import bad_header, no_address, pool_timeout
from .messages import headers_of, parsed
from .name_lookup import aaddresses
from .settings import ProxyRoute, TransportSettings, proxy_in_use
from .timeouts import CONNECT_SECONDS

_HEAD_BYTES = 100 * 1024
"""The longest header line, as in httpx2; the number of lines is practically unlimited."""
_READ_BYTES = 256 * 1024
"""The bytes that an event loop reads from a socket at once."""
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_VALID_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


class AiohttpPool:
    """The connection pool of one route."""

    def __init__(self, settings: TransportSettings, route: ProxyRoute) -> None:
        self._settings = settings
        self._route = route
        self._limit = settings.max_connections
        self._in_use = 0
        self._session = aiohttp.ClientSession(
            connector=_connector(settings, route),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            skip_auto_headers=["content-type"],
            read_bufsize=_READ_BYTES,
            max_line_size=_HEAD_BYTES,
            max_field_size=_HEAD_BYTES,
            max_headers=_HEAD_BYTES,
        )

    async def close(self) -> None:
        """Closes all connections."""
        await self._session.close()

    async def send(self, request: WireRequest, timeout: float) -> aiohttp.ClientResponse:
        """Returns the response without its body; the caller must `release` it. Raises `AbstractCoreError`."""
        if not all(map(_VALID_HEADER_VALUE.fullmatch, request.headers.values())):
            raise bad_header()
        await asyncio.sleep(0)  # lets the event loop notice idle connections that the server has closed
        crowded = self._in_use >= self._limit
        self._in_use += 1
        try:
            async with asyncio.timeout(timeout):
                return await self._session.request(
                    request.method,
                    _address(request.url),
                    headers=CIMultiDict(headers_of(request)),
                    data=io.BytesIO(request.body),
                    proxy=self._route.proxy,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(timeout, CONNECT_SECONDS)),
                )
        except FAILURES as error:
            self._in_use -= 1
            failure = self._map_error(error, request.url, timeout, crowded)
        except BaseException:
            self._in_use -= 1
            raise
        raise failure

    def release(self, response: aiohttp.ClientResponse) -> None:
        """Returns the connection of `response` to the pool, or closes it if the body is incomplete."""
        self._in_use -= 1
        response.release()

    def release_soon(self, response: aiohttp.ClientResponse, loop: asyncio.AbstractEventLoop) -> None:
        """Releases `response` from any thread, also after the loop's end."""
        with suppress(RuntimeError):
            if loop.is_closed():
                self.release(response)
            else:
                loop.call_soon_threadsafe(self.release, response)

    def _map_error(self, error: Exception, url: str, timeout: float, crowded: bool) -> AbstractCoreError:
        if crowded and isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            return pool_timeout(url, timeout)
        return map_error(error, url, timeout, proxy_in_use(self._settings, self._route))


class _Connector(aiohttp.TCPConnector):
    """Never reuses a connection with unsolicited data: it would be read as the next response."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or not (protocol.should_close or _has_begun_another_response(protocol)):
                return connection
            connection.close()


def _has_begun_another_response(protocol: ResponseHandler) -> bool:
    """Returns whether the server has sent the beginning of an unsolicited response. aiohttp would drop it, and read the
    rest as the response to the next request. Only the last request's parser knows; the next request has a new one.
    """
    parser: Any = protocol._parser  # pyright: ignore[reportPrivateUsage]
    if parser is None:
        return False
    try:
        return parser.feed_eof() is not None
    except (HttpProcessingError, aiohttp.ClientError):
        return True


class _Resolver(AbstractResolver):
    """Resolves host names as the other transports do: not in the event loop's default executor."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Returns the addresses of `host`."""
        wanted = [info for info in await aaddresses(host, port) if family in (socket.AF_UNSPEC, info[0])]
        return [
            ResolveResult(hostname=host, host=info[4][0], port=port, family=info[0], proto=info[2], flags=_NUMERIC)
            for info in wanted
        ]

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""


def _connector(settings: TransportSettings, route: ProxyRoute) -> aiohttp.TCPConnector:
    over_tls = route.scheme == "https" or (route.proxy or "").startswith("https:")
    connector = _Connector(
        ssl=settings.tls("https") if over_tls else True,
        limit=settings.max_connections,
        keepalive_timeout=settings.idle_seconds,
        resolver=_Resolver(),
    )
    _connectors.add(connector)
    return connector


_connectors: WeakSet[aiohttp.TCPConnector] = WeakSet()


def _leave_to_the_parent() -> None:
    """Detaches connections in a forked child: closing one would remove it from the parent's event loop."""
    for connector in list(_connectors):
        connector._closed = True  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


@lru_cache(maxsize=256)
def _address(url: str) -> yarl.URL:
    """Returns `url` escaped as for httpx2, and without userinfo: credentials go into headers."""
    try:
        address = parsed(url)
    except httpx2.InvalidURL:
        raise no_address(url) from None
    origin = f"{address.scheme}://{address.netloc.decode('ascii')}"
    return yarl.URL(origin + address.raw_path.decode("ascii"), encoded=True)
