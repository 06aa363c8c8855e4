"""`CurlConnection`: a connection of libcurl, driven by the thread that reads the response.

Sockets for libcurl, opened and waited for here, so that DNS, addresses and timeouts work as with httpx2.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias
from weakref import WeakSet

import pycurl

from ..ports import interruptible
from .messages import shut_down
from .name_lookup import addresses

Wait: TypeAlias = Callable[[Mapping[int, int], float], Iterable[tuple[int, int]]]
"""Waits up to the given seconds for descriptors, with the event to wait for (`pycurl.POLL_IN`, `POLL_OUT`,
`POLL_INOUT`); returns those that are ready, with their events (`pycurl.CSELECT_...`)."""


def connect(host: str, port: int, due: float) -> socket.socket:
    """Returns a connection to the first address of `host` that answers. Each address gets an equal part of the time
    until `due` (monotonic seconds). Raises `TimeoutError`, other `OSError` and `UnicodeError`.
    """
    found = addresses(host, port, max(0.0, due - time.monotonic()))
    failure: OSError | None = None
    for number, (family, kind, protocol, _, address) in enumerate(found):
        left = due - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"connecting to {host} timed out")
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(left / (len(found) - number))
            with interruptible(partial(shut_down, connection)):
                connection.connect(address)
        except OSError as error:
            connection.close()
            failure = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise failure or OSError(f"{host} has no address")


def is_same_connection(descriptor: int, connection: socket.socket) -> bool:
    """Returns whether `descriptor` is a duplicate of `connection`, and not closed or reused."""
    with suppress(OSError), socket.fromfd(descriptor, connection.family, connection.type) as twin:
        return (twin.getsockname(), twin.getpeername()) == (connection.getsockname(), connection.getpeername())
    return False


def wait_with_poll(wanted: Mapping[int, int], seconds: float) -> Iterable[tuple[int, int]]:
    """Waits with `select.poll`, which supports any descriptor."""
    poller = select.poll()
    for descriptor, events in wanted.items():
        reading = select.POLLIN if events & pycurl.POLL_IN else 0
        poller.register(descriptor, reading | (select.POLLOUT if events & pycurl.POLL_OUT else 0))
    return [(descriptor, _ready(events)) for descriptor, events in poller.poll(seconds * 1000)]


def _ready(events: int) -> int:
    return (
        (pycurl.CSELECT_IN if events & (select.POLLIN | select.POLLHUP) else 0)
        | (pycurl.CSELECT_OUT if events & select.POLLOUT else 0)
        | (pycurl.CSELECT_ERR if events & (select.POLLERR | select.POLLNVAL) else 0)
    )


def wait_with_select(wanted: Mapping[int, int], seconds: float) -> Iterable[tuple[int, int]]:
    """Waits with `select.select`, for Windows."""
    if not wanted:
        time.sleep(seconds)
        return []
    reading = [descriptor for descriptor, events in wanted.items() if events & pycurl.POLL_IN]
    writing = [descriptor for descriptor, events in wanted.items() if events & pycurl.POLL_OUT]
    readable, writable, failed = select.select(reading, writing, list(wanted), seconds)
    found = dict.fromkeys([*readable, *writable, *failed], 0)
    for ready, bit in ((readable, pycurl.CSELECT_IN), (writable, pycurl.CSELECT_OUT), (failed, pycurl.CSELECT_ERR)):
        for descriptor in ready:
            found[descriptor] |= bit
    return found.items()


wait_for_sockets: Wait = wait_with_poll if hasattr(select, "poll") else wait_with_select
"""The function for this system."""


_READ_BYTES = 256 * 1024
"""The bytes that libcurl reads from a socket at once."""
_SUPPRESS_CONNECT_HEADERS = 265
"""CURLOPT_SUPPRESS_CONNECT_HEADERS, which pycurl does not define: hides a proxy's response to CONNECT."""
OF_LIBCURL = -1
"""The error code of failures of libcurl itself."""
_SURPLUS = b"Leftovers after chunking"
"""If a server sends more than a chunked response, libcurl drops the surplus and keeps the connection. Later data would
be read as the next response, which may be another tenant's. Only libcurl's log reports it
(https://github.com/curl/curl/blob/master/lib/http_chunks.c)."""


@dataclass(frozen=True, slots=True, repr=False)
class WireCall:
    """A request for libcurl, with complete header lines. Its repr hides them, since one may be the key."""

    method: str
    url: str
    headers: Sequence[str]
    body: bytes
    connect_due: float
    """The deadline of connecting (monotonic seconds)."""


class CurlResponse:
    """The response to one request, as received so far."""

    __slots__ = (
        "connect_due",
        "connect_error",
        "connecting",
        "failure",
        "head",
        "head_is_complete",
        "pieces",
        "running",
    )

    def __init__(self, connect_due: float) -> None:
        self.connect_due = connect_due
        self.head: list[bytes] = []
        """The status line and the header lines."""
        self.head_is_complete = False
        self.pieces: deque[bytes] = deque()
        self.running = True
        self.connecting = False
        """Whether it is still opening a connection."""
        self.connect_error: BaseException | None = None
        self.failure: tuple[int, str] | None = None
        """libcurl's error code and message."""


class CurlConnection:
    """A multi handle with one easy handle, so that each connection can be read in its own thread.

    `configure` sets options of the easy handle; `connect` opens the socket, and gets the deadline (monotonic seconds).
    The socket is a duplicate of libcurl's descriptor: shutting it down ends waits on both, and closing it is safe.
    """

    def __init__(self, configure: Callable[[Any], None], connect: Callable[[float], socket.socket]) -> None:
        self._connect = connect
        self._process = os.getpid()
        # Reentrant: a thread that closes a connection may garbage-collect a body, which closes its own.
        self._lock = threading.RLock()
        self._socket: socket.socket | None = None
        self._curls_descriptor = -1
        self._wanted: dict[int, int] = {}
        self._timer: float | None = None
        self._may_connect = True
        self._exchange: CurlResponse | None = None
        self._is_added = False
        self.is_reusable = True
        self.idle_since = 0.0
        self._multi: Any = pycurl.CurlMulti()
        self._easy: Any = pycurl.Curl()
        self._set_up(configure)
        _connections.add(self)

    def _set_up(self, configure: Callable[[Any], None]) -> None:
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._want)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, 1)
        options: dict[int, object] = {
            pycurl.NOSIGNAL: 1,
            pycurl.BUFFERSIZE: _READ_BYTES,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.HTTP_CONTENT_DECODING: 0,
            pycurl.PATH_AS_IS: 1,
            _SUPPRESS_CONNECT_HEADERS: 1,
            pycurl.WRITEFUNCTION: self._take_piece,
            pycurl.HEADERFUNCTION: self._take_header,
            pycurl.OPENSOCKETFUNCTION: self._open_socket,
            pycurl.SOCKOPTFUNCTION: _is_connected_already,
            pycurl.DEBUGFUNCTION: self._take_log,
            pycurl.VERBOSE: 1,
        }
        for option, value in options.items():
            self._easy.setopt(option, value)
        configure(self._easy)

    def begin(self, call: WireCall) -> CurlResponse:
        """Starts an exchange, which `advance` continues.

        A used connection is reused if it has no unread data, and libcurl may not replace it by a new one: it would send
        the request twice, which a model may already be processing.
        """
        exchange = self._exchange = CurlResponse(call.connect_due)
        reused = self._socket is not None and not any(wait_for_sockets({self._socket.fileno(): pycurl.POLL_IN}, 0.0))
        self._may_connect = not reused
        setopt = self._easy.setopt
        setopt(pycurl.FRESH_CONNECT, not reused)
        setopt(pycurl.URL, call.url)
        setopt(pycurl.HTTPHEADER, call.headers)
        setopt(pycurl.CUSTOMREQUEST, call.method)
        setopt(pycurl.POSTFIELDS, call.body)
        try:
            self._multi.add_handle(self._easy)
        except pycurl.error as error:
            self._end(exchange, (OF_LIBCURL, str(error)))
        else:
            self._is_added = True
        return exchange

    def advance(self, exchange: CurlResponse, due: float) -> None:
        """Waits for the network once, and handles its events; raises `TimeoutError` at `due` (monotonic seconds)."""
        if exchange.connecting:
            exchange.connecting = self._easy.getinfo(pycurl.PRETRANSFER_TIME) == 0
            due = min(due, exchange.connect_due) if exchange.connecting else due
        now, timer = time.monotonic(), self._timer
        if timer is not None and timer <= now:
            self._timer = None
            self._act(exchange, pycurl.SOCKET_TIMEOUT, 0)
            return
        if now >= due:
            raise TimeoutError
        until = due if timer is None else min(due, timer)
        for descriptor, events in wait_for_sockets(self._wanted, until - now):
            if exchange.running:
                self._act(exchange, descriptor, events)

    def status(self) -> int:
        """Returns the HTTP status of the response."""
        return self._easy.getinfo(pycurl.RESPONSE_CODE)

    def proxy_status(self) -> int:
        """Returns the HTTP status of a proxy's response to CONNECT; 0 if there was none."""
        return self._easy.getinfo(pycurl.HTTP_CONNECTCODE)

    def cut(self, exchange: CurlResponse) -> None:
        """Shuts the connection down while `exchange` uses it, whichever thread waits for it; does nothing in a forked
        child, where it is the parent's.
        """
        if self._process == os.getpid():
            with self._lock:
                if self._exchange is exchange and exchange.running:
                    shut_down(self._socket)

    def close(self) -> None:
        """Closes the connection, also during an exchange, and frees libcurl's handles."""
        self.is_reusable = False
        if self._exchange is not None:
            self._exchange.running = False
        self._remove()
        self._multi.close()
        self._easy.close()
        self._forget_socket()

    def leave_to_parent(self, nowhere: int) -> None:
        """In a forked child: redirects what libcurl sends when its handles are freed to the descriptor `nowhere`."""
        self._lock = threading.RLock()
        if self._socket is not None:
            if is_same_connection(self._curls_descriptor, self._socket):
                os.dup2(nowhere, self._curls_descriptor, inheritable=False)
            self._forget_socket()

    def _act(self, exchange: CurlResponse, descriptor: int, events: int) -> None:
        try:
            self._multi.socket_action(descriptor, events)
            _, succeeded, failed = self._multi.info_read()
        except pycurl.error as error:
            succeeded, failed = [], [(self._easy, OF_LIBCURL, str(error))]
        if succeeded or failed:
            self._end(exchange, failed[0][1:] if failed else None)
        if exchange.connect_error is not None and not isinstance(exchange.connect_error, Exception):
            raise exchange.connect_error

    def _end(self, exchange: CurlResponse, failure: tuple[int, str] | None) -> None:
        with self._lock:
            exchange.running = False
        exchange.failure = failure
        if failure is not None or self._easy.getinfo(pycurl.ACTIVESOCKET) < 0:
            self.is_reusable = False
        self._remove()

    def _remove(self) -> None:
        """Removes the handle from the multi handle, and the request from memory."""
        if self._is_added:
            self._is_added = False
            self._multi.remove_handle(self._easy)
            self._easy.setopt(pycurl.POSTFIELDS, b"")

    def _forget_socket(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    # Callbacks of libcurl, in `add_handle` and `socket_action`:

    def _want(self, events: int, descriptor: int, multi: object, data: object) -> None:
        if events == pycurl.POLL_REMOVE:
            self._wanted.pop(descriptor, None)
        else:
            self._wanted[descriptor] = events

    def _set_timer(self, milliseconds: int) -> None:
        self._timer = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000

    def _take_piece(self, piece: bytes) -> None:
        if self._exchange is not None:
            self._exchange.pieces.append(piece)

    def _take_header(self, line: bytes) -> None:
        exchange = self._exchange
        if exchange is None or exchange.head_is_complete:
            return  # a trailer
        if line.strip():
            exchange.head.append(line)
        elif exchange.head[0].split(b" ", 1)[-1].startswith(b"1"):
            exchange.head.clear()  # an interim response
        else:
            exchange.head_is_complete = True

    def _take_log(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT and text.startswith(_SURPLUS):
            self.is_reusable = False

    def _open_socket(self, purpose: int, address: object) -> int:
        exchange = self._exchange
        if exchange is None or not self._may_connect:
            return pycurl.SOCKET_BAD
        self._may_connect = False
        exchange.connecting = True
        try:
            connection = self._connect(exchange.connect_due)
        except BaseException as error:
            exchange.connect_error = error
            return pycurl.SOCKET_BAD
        self._forget_socket()
        self._socket = connection
        self._curls_descriptor = connection.dup().detach()
        return self._curls_descriptor


def _is_connected_already(descriptor: int, purpose: int) -> int:
    return pycurl.SOCKOPT_ALREADY_CONNECTED


_connections: WeakSet[CurlConnection] = WeakSet()


def _leave_to_parent() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for connection in list(_connections):
        connection.leave_to_parent(nowhere)
    os.close(nowhere)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
