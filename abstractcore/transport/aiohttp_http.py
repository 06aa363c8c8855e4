"""The async transport on aiohttp, which needs less processor time than httpx2 for many concurrent calls.

aiohttp's connection pools of one event loop. Maps the exceptions of aiohttp to errors of this package.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import socket
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakSet, finalize

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
from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .async_http import LoopPools
from .failures import (
    CONNECT_SECONDS,
    ProxyInUse,
    bad_header,
    broken_connection,
    cannot_connect,
    cannot_unpack,
    connect_timeout,
    no_address,
    pool_timeout,
    read_timeout,
    refused_by_proxy,
)
from .messages import UnreadBody, decompressor_for, headers_of, lower_headers, parse_url, shut_down
from .name_lookup import aaddresses
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, http_only, proxy_in_use

FAILURES: tuple[type[Exception], ...] = (
    aiohttp.ClientError,
    HttpProcessingError,
    OSError,
    RuntimeError,
    ValueError,
    zlib.error,
)
"""The exceptions of aiohttp and zlib; RuntimeError is raised for a connection that another task has closed."""


def map_error(error: BaseException, url: str, seconds: float, proxy: ProxyInUse | None = None) -> AbstractCoreError:
    """Returns the error for one of `FAILURES`. Raise it after the `except` block: the cause holds request headers."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return connect_timeout(url, seconds, proxy)
    if isinstance(error, TimeoutError):
        return read_timeout(url, seconds)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return refused_by_proxy(url, proxy)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return cannot_connect(url, str(error.certificate_error), proxy)
    if isinstance(error, aiohttp.ClientConnectorError):
        return cannot_connect(url, str(error.os_error), proxy)
    if isinstance(error, zlib.error):
        return cannot_unpack(url)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | httpx2.InvalidURL):
        return no_address(url)
    return broken_connection(url, _reason(error), proxy)


def _reason(error: BaseException) -> str:
    """Returns the reason in our own words: aiohttp's messages quote the URL."""
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return "the response is not HTTP"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the body is incomplete"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "connection closed"


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
        address = parse_url(url)
    except httpx2.InvalidURL:
        raise no_address(url) from None
    origin = f"{address.scheme}://{address.netloc.decode('ascii')}"
    return yarl.URL(origin + address.raw_path.decode("ascii"), encoded=True)


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
            piece = next(self._decompressed, b"") or self._decompress(_buffered_data(content))
            if not piece and not content.at_eof():
                async with asyncio.timeout(self._timeout):
                    while not piece and not content.at_eof():
                        piece = self._decompress(await content.readany())
        except FAILURES as error:
            failure = map_error(error, self._url, self._timeout)
        else:
            if not self._aborted:
                return piece
            failure = broken_connection(self._url, "it was closed by the client")
        self._response.close()
        raise failure

    def _decompress(self, data: bytes) -> bytes:
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


def _buffered_data(content: aiohttp.StreamReader) -> bytes:
    """Returns buffered data, also if the connection broke after it."""
    if content.exception() is None:
        return content.read_nowait()
    return content._read_nowait(-1) or content.read_nowait()  # pyright: ignore[reportPrivateUsage]
