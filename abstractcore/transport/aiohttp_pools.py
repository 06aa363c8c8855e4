"""aiohttp's connections of one event loop: how they are made, used again, and left alone by forked children."""

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
from .aiohttp_failures import FAILURES, as_ours
from .failures import bad_header, no_address, none_came_free
from .messages import headers_of, parsed
from .name_lookup import aaddresses
from .settings import Route, TransportSettings, proxy_in_use
from .timeouts import CONNECT_SECONDS

_HEAD_BYTES = 100 * 1024
"""The longest line of a response's head, as in httpx2; the number of lines is as good as free."""
_READ_BYTES = 256 * 1024
"""What an event loop takes from a socket at once."""
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_SENDABLE = re.compile(r"[\t\x20-\x7e]*")


class AiohttpPool:
    """The connections over one route."""

    def __init__(self, settings: TransportSettings, route: Route) -> None:
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
        """Close all connections."""
        await self._session.close()

    async def send(self, request: WireRequest, timeout: float) -> aiohttp.ClientResponse:
        """The response, its body not read; whoever gets it says `leave` in the end. Raises our errors."""
        if not all(map(_SENDABLE.fullmatch, request.headers.values())):
            raise bad_header()
        await asyncio.sleep(0)  # the event loop sees which idle connections the server has closed meanwhile
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
            failure = self._as_ours(error, request.url, timeout, crowded)
        except BaseException:
            self._in_use -= 1
            raise
        raise failure

    def leave(self, response: aiohttp.ClientResponse) -> None:
        """Take `response`'s connection back, or cut it if there is more to come."""
        self._in_use -= 1
        response.release()

    def leave_later(self, response: aiohttp.ClientResponse, loop: asyncio.AbstractEventLoop) -> None:
        """As `leave`, from any thread, and after the loop's end."""
        with suppress(RuntimeError):
            if loop.is_closed():
                self.leave(response)
            else:
                loop.call_soon_threadsafe(self.leave, response)

    def _as_ours(self, error: Exception, url: str, timeout: float, crowded: bool) -> AbstractCoreError:
        if crowded and isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            return none_came_free(url, timeout)
        return as_ours(error, url, timeout, proxy_in_use(self._settings, self._route))


class _Connector(aiohttp.TCPConnector):
    """Never uses a connection again on which the server has said something unasked: it would be the next answer."""

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
    """Whether the server has sent the beginning of one after the last, which aiohttp would drop, and read what follows
    as the response to the next request. Only the last request's parser knows; the next request gets its own.
    """
    parser: Any = protocol._parser  # pyright: ignore[reportPrivateUsage]
    if parser is None:
        return False
    try:
        return parser.feed_eof() is not None
    except (HttpProcessingError, aiohttp.ClientError):
        return True


class _Resolver(AbstractResolver):
    """Looks names up as the other transports do: not in the event loop's own threads."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host`."""
        wanted = [info for info in await aaddresses(host, port) if family in (socket.AF_UNSPEC, info[0])]
        return [
            ResolveResult(hostname=host, host=info[4][0], port=port, family=info[0], proto=info[2], flags=_NUMERIC)
            for info in wanted
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _connector(settings: TransportSettings, route: Route) -> aiohttp.TCPConnector:
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
    """Closing a connection in a forked child would take it out of the event loop of the parent, which shares it."""
    for connector in list(_connectors):
        connector._closed = True  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


@lru_cache(maxsize=256)
def _address(url: str) -> yarl.URL:
    """`url` escaped as for httpx2, and without a user part: keys go into headers."""
    try:
        address = parsed(url)
    except httpx2.InvalidURL:
        raise no_address(url) from None
    place = f"{address.scheme}://{address.netloc.decode('ascii')}"
    return yarl.URL(place + address.raw_path.decode("ascii"), encoded=True)
