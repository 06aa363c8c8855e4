"""Converts requests and responses between our data and httpx2's; headers and checks of all transports.

`ConnectionLease`: the connection of a request, which may be closed from outside until it is released. Incremental
decompression of bodies in gzip and deflate. Joins the writes of httpcore2, so that a request leaves in one packet.

The HTTP libraries' own decoders differ: httpx2's stops after the first member of a gzip body, of which there may be
several (RFC 1952, section 2.2).
"""

from __future__ import annotations

import os
import socket
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar, cast

import httpcore2
import httpx2

from ..errors import RequestTimeoutError, ServerError
from ..ports import Body
from ..schema import WireRequest
from ..schema.base_error import shown
from ..schema.wire import ENCODINGS, unexpected_encoding
from ..version import __version__
from .failures import CONNECT_SECONDS, ProxyInUse, connect_timeout, pool_timeout, read_timeout

HEADERS: list[tuple[str, str]] = [
    ("accept", "application/json, text/event-stream, */*;q=0.1"),
    ("accept-encoding", ", ".join(ENCODINGS)),
    ("user-agent", f"abstractcore/{__version__}"),
]
"""The headers of every request."""

Trace: TypeAlias = Callable[[str, object], object]
"""Called with the trace events of httpx2."""


def to_http(request: WireRequest, timeouts: Mapping[str, float], trace: Trace | None = None) -> httpcore2.Request:
    """Returns the request for httpx2's pools; `timeouts` holds the seconds for each step, and `trace` gets its events.

    httpx2's own requests and clients are slower than everything else that is done here.
    """
    url, host = _target(request.url)
    headers = [(b"host", host), (b"content-length", b"%d" % len(request.body))]
    headers += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers_of(request)]
    return httpcore2.Request(
        request.method,
        url,
        headers=headers,
        content=request.body,
        extensions={"timeout": timeouts} if trace is None else {"timeout": timeouts, "trace": trace},
    )


@lru_cache(maxsize=256)
def _target(url: str) -> tuple[httpcore2.URL, bytes]:
    """Returns `url` for a pool, and its `Host` header."""
    address = parse_url(url)
    target = httpcore2.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path)
    return target, address.netloc


def headers_of(request: WireRequest) -> list[tuple[str, str]]:
    """Returns the headers of a request, with defaults for those that it does not set."""
    own = request.headers
    return [*(pair for pair in HEADERS if pair[0] not in own), *own.items()]


@lru_cache(maxsize=256)
def parse_url(url: str) -> httpx2.URL:
    """Returns `url` with invalid characters escaped. Raises `httpx2.InvalidURL`."""
    address = httpx2.URL(url)
    if not address.host:
        raise httpx2.InvalidURL("no host")
    return address


def lower_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Returns headers with lower-case names; values of a repeated header are joined with commas."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def head_of(response: httpx2.Response | httpcore2.Response) -> tuple[int, Mapping[str, str]]:
    """Returns the status and the headers."""
    if isinstance(response, httpx2.Response):
        return response.status_code, lower_headers(response.headers.raw)
    return response.status, lower_headers(response.headers)


def step_seconds(seconds: float) -> dict[str, float]:
    """Returns `seconds` for each step; connecting takes ten at most."""
    connect = min(seconds, CONNECT_SECONDS)
    return {"connect": connect, "read": seconds, "write": seconds, "pool": seconds}


def close_after_surplus(response: httpcore2.Response) -> None:
    """Closes the connection of a response that was read to its end if the server has sent more than the response.

    httpcore2 would read the surplus as the response to the next request, which may be another tenant's.
    Only h11's state knows of it, and httpcore2 has no public access to that (HTTP/2 is not used here).
    """
    stream = getattr(response.stream, "_stream", None)
    state = getattr(getattr(stream, "_connection", None), "_h11_state", None)
    if state is not None and state.trailing_data[0]:
        network: httpcore2.NetworkStream = cast("dict[str, Any]", response.extensions)["network_stream"]
        shut_down(network.get_extra_info("socket"))


class UnreadBody:
    """The body of an error response with an unexpected encoding, read as empty: status and headers are useful."""

    def __init__(self, body: Body) -> None:
        """The caller closes `body`.

        Raises `ServerError` if the response is not an error: then its body is needed.
        """
        if 200 <= body.status < 300:
            encoding = shown(unexpected_encoding(body.headers))
            message = f"unexpected Content-Encoding {encoding}: expected {' or '.join(ENCODINGS)}"
            raise ServerError(message, status=body.status)
        self.status: int = body.status
        self.headers: Mapping[str, str] = body.headers

    async def read(self) -> bytes:
        """Returns empty bytes."""
        return b""

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def abort(self) -> None:
        """Does nothing: there is no connection."""


def shut_down(connection: socket.socket | None) -> None:
    """Shuts `connection` down, which ends waits for it in any thread."""
    if connection is not None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


T = TypeVar("T")
_SENDING = "http11.send_request_headers.started"
_RELEASED = "http11.response_closed.started"
"""Trace events of httpx2; the second comes before other requests can use the connection."""
_CONNECTING = "connect_tcp.started"
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class ConnectionLease:
    """The use of a connection by one request, tracked through httpx2's `trace` extension.

    In a forked child, where the connection is the parent's, it does nothing.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        # Reentrant: while an alarm closes the connection, its thread may garbage-collect the stream, which releases it.
        self._lock = threading.RLock()
        self._in_use = False
        self._waiting_for: Literal["pool", "connection", "answer"] = "pool"
        self._opened: Any = None
        """The connection, if this request opened it: before the response httpx2 reports only these."""
        self.was_cut = False

    def trace(self, event: str, info: object) -> None:
        """Handles a trace event of httpx2."""
        if event == _SENDING:
            self.begin()
        elif event == _RELEASED:
            self.end()
        elif event.endswith(_CONNECTED):
            self._opened = cast("dict[str, object]", info)["return_value"]
        elif event.endswith(_CONNECTING):
            self._waiting_for = "connection"

    def begin(self) -> None:
        """Marks the connection as in use by this request."""
        if self._process == os.getpid():
            with self._lock:
                self._in_use, self._waiting_for = True, "answer"

    def end(self) -> None:
        """Marks the connection as released; call it before other requests can use the connection."""
        if self._process == os.getpid():
            with self._lock:
                self._in_use, self._opened = False, None

    async def atrace(self, event: str, info: object) -> None:
        """Handles a trace event in async code."""
        self.trace(event, info)

    def cut(self, response: httpx2.Response | httpcore2.Response) -> bool:
        """Shuts the socket down, whichever thread reads it; not in HTTP/2, where requests share it. Returns False in a
        forked child."""
        if self._process != os.getpid():
            return False
        with self._lock:
            if self._in_use:
                shut_down(response.extensions["network_stream"].get_extra_info("socket"))
        return True

    def cut_new(self) -> None:
        """Shuts the socket down if this request opened the connection and has no response yet."""
        with self._lock:
            if self._opened is not None and self._process == os.getpid():
                self.was_cut = True
                shut_down(self._opened.get_extra_info("socket"))

    async def within(self, timeout: float, sending: Awaitable[T]) -> T:
        """Awaits `sending`; raises `TimeoutError` after `timeout` seconds.

        If it fails, closes a connection that it opened: a cancelled TLS handshake would leave it open.
        """
        import asyncio

        try:
            async with asyncio.timeout(timeout):
                return await sending
        except BaseException:
            connection, self._opened = self._opened, None
            if connection is not None:
                await connection.aclose()
            raise

    def timeout_error(self, url: str, seconds: float, proxy: ProxyInUse | None) -> RequestTimeoutError:
        """Returns the timeout error by what the request waited for last."""
        if self._waiting_for == "answer":
            return read_timeout(url, seconds)
        if self._waiting_for == "pool":
            return pool_timeout(url, seconds)
        return connect_timeout(url, seconds, proxy)


_LONGEST_PIECE = 1024 * 1024
"""The maximum output of one step: a kilobyte may decompress to a megabyte."""
_GZIP = zlib.MAX_WBITS | 16
_DEFLATE_METHOD = 8


class Decompressor:
    """Decompresses one body."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._member: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the decompressed data, up to a megabyte at a time. Raises `zlib.error`."""
        while data:
            if self._member is None:
                self._member = zlib.decompressobj(self._window(data))
            elif self._member.eof:
                data = data.lstrip(b"\0")  # padding, as in files of whole blocks
                if not data:
                    return
                self._member = zlib.decompressobj(self._window(data))
            full = True
            while full and not self._member.eof:
                piece = self._member.decompress(data, _LONGEST_PIECE)
                if piece:
                    yield piece
                data = self._member.unconsumed_tail
                full = bool(data) or len(piece) == _LONGEST_PIECE
            data = self._member.unused_data if self._member.eof else b""

    def _window(self, data: bytes) -> int:
        """Returns zlib's `wbits`: some servers send deflate without its header (RFC 1950)."""
        if self._encoding == "gzip":
            return _GZIP
        return zlib.MAX_WBITS if data[0] & 0xF == _DEFLATE_METHOD else -zlib.MAX_WBITS


def decompressor_for(headers: Mapping[str, str]) -> Decompressor | None:
    """Returns the decompressor for a response with these headers, or None if its body is not compressed. The encoding
    must be one of `ENCODINGS`.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    return Decompressor(encoding) if encoding in ("gzip", "deflate") else None


_JOINED_BYTES = 65536
"""Larger bodies are not copied to join them with the head."""


class JoinedWrites:
    """Buffers the writes of one connection.

    httpcore2 writes the head of a request, then its body. The head is buffered until more is written, or something is
    read: this saves a packet, and the server has the complete request at once.
    """

    __slots__ = ("_head",)

    def __init__(self) -> None:
        self._head: bytes | None = None

    def add(self, buffer: bytes) -> Sequence[bytes]:
        """Returns the data to send now that `buffer` is written."""
        head = self._head
        if head is None:
            self._head = buffer
            return ()
        self._head = b""
        if not head or not buffer:
            return (head or buffer,)
        return (head, buffer) if len(buffer) > _JOINED_BYTES else (head + buffer,)

    def rest(self) -> bytes:
        """Returns the data to send before a read; the next write begins another request."""
        head, self._head = self._head, None
        return head or b""
