"""The sync transport on httpx2: its coroutines never suspend, so sync code can run them.

TCP and TLS for httpx2's sync pools, with one deadline for all waits of an exchange. httpx2's connection pools, with
our network backends.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeAlias, cast

import httpcore2
import httpx2

from ..ports import Body, current_interruption, interruptible
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .failures import FAILURES, broken_connection, map_error
from .messages import (
    ConnectionLease,
    Decompressor,
    JoinedWrites,
    UnreadBody,
    close_after_surplus,
    decompressor_for,
    head_of,
    shut_down,
    step_seconds,
    to_http,
)
from .name_lookup import addresses
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, proxy_in_use

AddressCheck: TypeAlias = Callable[[str, Sequence[str]], None]
_LEAST_SECONDS = 0.001


class Timeouts(dict[str, float]):
    """httpx2's `timeout` extension for sync code, where `seconds` is the total of all steps.

    `get` returns the time left when a step begins. httpx2's own streams wait that long for each read or write of the
    step; those of `SyncNetwork` check the time before each of them: see `StepTimeout.left`.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(step_seconds(seconds))
        self.seconds = seconds
        self._due = time.monotonic() + seconds

    def get(self, step: str, default: object = None) -> StepTimeout:
        """Returns the seconds for `step`, at least 0.001: zero has another meaning for a socket."""
        return StepTimeout(max(_LEAST_SECONDS, min(self[step], self.left())), self)

    def left(self) -> float:
        """Returns the seconds until the deadline, negative after it."""
        return self._due - time.monotonic()

    def restart(self) -> None:
        """Starts the time again, for the next read of a body."""
        self._due = time.monotonic() + self.seconds


class StepTimeout(float):
    """The seconds for one step when it began."""

    __slots__ = ("_timeouts",)
    _timeouts: Timeouts

    def __new__(cls, seconds: float, timeouts: Timeouts) -> StepTimeout:
        """`timeouts` has the deadline of all steps."""
        step = super().__new__(cls, seconds)
        step._timeouts = timeouts
        return step

    def left(self) -> float:
        """Returns the seconds that a wait of this step may take now; raises `TimeoutError` if none are left."""
        left = self._timeouts.left()
        if left <= 0:
            raise TimeoutError
        return min(left, self)


def seconds_left(timeout: float | None) -> float | None:
    """Returns the seconds left of `timeout`; raises `TimeoutError` if none are left."""
    return timeout.left() if isinstance(timeout, StepTimeout) else timeout


class SyncNetwork(httpcore2.NetworkBackend):
    """Resolves host names in a thread, and gives each address an equal part of the time left.

    `check` gets a host and its addresses before they are connected to, and may raise `httpcore2.ConnectError`.
    """

    def __init__(self, check: AddressCheck | None = None) -> None:
        self._check = check
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> SyncNetworkStream:
        """Returns a connection to the first address that answers."""
        try:
            found = addresses(host, port, seconds_left(timeout))
            resolved = list(dict.fromkeys(str(info[4][0]) for info in found))
            if self._check is not None:
                self._check(host, resolved)
            failure: Exception | None = None
            for number, address in enumerate(resolved):
                left = seconds_left(timeout)
                part = None if left is None else left / (len(resolved) - number)
                try:
                    stream = self._backend.connect_tcp(address, port, part, local_address, socket_options)
                    return SyncNetworkStream(stream)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure = error
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None
        raise failure or httpcore2.ConnectError(f"{host} has no address")


class SyncNetworkStream(httpcore2.NetworkStream):
    """A connection whose reads and writes wait no longer than the time left of the exchange."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._writes = JoinedWrites()
        connection: Any = stream.get_extra_info("socket")
        # In TLS through a proxy with TLS the socket has the outer layer only; the stream has the inner one.
        inner = stream.get_extra_info("ssl_object") is not None and not isinstance(connection, ssl.SSLSocket)
        self._socket: socket.socket | None = None if inner else connection

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Returns received data, up to `max_bytes`; empty at the end."""
        try:
            if current_interruption() is None:  # the most frequent: reads of a body
                return self._read(max_bytes, timeout)
            with interruptible(self._cut):
                return self._read(max_bytes, timeout)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends all of `buffer`; the head of a request is sent with its body."""
        for joined in self._writes.add(buffer):
            self._send(joined, timeout)

    def _send(self, buffer: bytes, timeout: float | None) -> None:
        try:
            with interruptible(self._cut):
                self._write(buffer, timeout)
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(str(error)) from None
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from None

    def _read(self, max_bytes: int, timeout: float | None) -> bytes:
        rest = self._writes.rest()
        if rest:
            self._send(rest, timeout)
        left = seconds_left(timeout)
        if self._socket is None:
            return self._stream.read(max_bytes, left)
        self._socket.settimeout(left)
        return self._socket.recv(max_bytes)

    def _write(self, buffer: bytes, timeout: float | None) -> None:
        if self._socket is None:
            self._stream.write(buffer, seconds_left(timeout))
            return
        rest = memoryview(buffer)
        while rest:
            self._socket.settimeout(seconds_left(timeout))
            rest = rest[self._socket.send(rest) :]

    def _cut(self) -> None:
        shut_down(self._stream.get_extra_info("socket"))

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> SyncNetworkStream:
        """Returns the connection with TLS."""
        try:
            left = seconds_left(timeout)
        except TimeoutError as error:
            self.close()
            raise httpcore2.ConnectTimeout(str(error)) from None
        # The handshake detaches the socket: closing it from outside needs a duplicate.
        raw: socket.socket = self._stream.get_extra_info("socket")
        twin = socket.fromfd(raw.fileno(), raw.family, raw.type)
        with twin, interruptible(partial(shut_down, twin)):
            return SyncNetworkStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        """Returns transport information for httpx2."""
        return self._stream.get_extra_info(info)


def sync_pool(
    settings: TransportSettings, route: ProxyRoute, check: AddressCheck | None = None
) -> httpcore2.ConnectionPool:
    """Returns the sync connection pool of one route. `check` is not used for a proxy, which resolves names itself."""
    network = SyncNetwork(check if route.proxy is None else None)
    return httpcore2.ConnectionPool(**_options(settings, route), network_backend=network)


def async_pool(settings: TransportSettings, route: ProxyRoute) -> httpcore2.AsyncConnectionPool:
    """Returns the connection pool of one event loop and one route."""
    from .async_http import AsyncNetwork

    return httpcore2.AsyncConnectionPool(**_options(settings, route), network_backend=AsyncNetwork())


def _options(settings: TransportSettings, route: ProxyRoute) -> dict[str, Any]:
    return {
        "ssl_context": settings.tls(route.scheme),
        "proxy": _proxy(settings, route),
        "max_connections": settings.max_connections,
        "max_keepalive_connections": settings.max_idle_connections,
        "keepalive_expiry": settings.idle_seconds,
    }


def _proxy(settings: TransportSettings, route: ProxyRoute) -> httpcore2.Proxy | None:
    """Returns the route's proxy for the pools."""
    proxy = settings.proxy_of(route)
    if proxy is None:
        return None
    url = proxy.url
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        ssl_context=proxy.ssl_context,
    )


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
    return pieces if decompressor is None else _decompress(pieces, decompressor)


def _decompress(pieces: Iterator[bytes], decompressor: Decompressor) -> Iterator[bytes]:
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
            failure = broken_connection(self._url, "it was closed by the client")
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
