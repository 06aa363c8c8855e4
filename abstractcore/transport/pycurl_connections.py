"""One connection of libcurl, and one exchange at a time over it, driven by the thread that reads the response."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import pycurl

from .messages import shut_down
from .pycurl_sockets import is_same_connection, wait_for_sockets

_READ_BYTES = 256 * 1024
"""What libcurl takes from a socket at once."""
_SUPPRESS_CONNECT_HEADERS = 265
"""CURLOPT_SUPPRESS_CONNECT_HEADERS, which pycurl does not name: a proxy's answer to CONNECT is no response."""
OF_LIBCURL = -1
"""The error code where libcurl itself fails, rather than the exchange."""
_SURPLUS = b"Leftovers after chunking"
"""Where a server sends more than a chunked response, libcurl drops the surplus and keeps the connection. What follows
would be read as the next response, which may be another tenant's. Only libcurl's log has it
(https://github.com/curl/curl/blob/master/lib/http_chunks.c)."""


@dataclass(frozen=True, slots=True, repr=False)
class WireCall:
    """A request as libcurl takes it: headers are whole lines. Its text form shows none of them: one may be the key."""

    method: str
    url: str
    headers: Sequence[str]
    body: bytes
    connect_due: float
    """When connecting must be over (monotonic seconds)."""


class Exchange:
    """One request's response, as far as it has arrived."""

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
        """Whether it makes a connection, and has none yet that carries requests."""
        self.connect_error: BaseException | None = None
        self.failure: tuple[int, str] | None = None
        """libcurl's error code and message."""


class CurlConnection:
    """A multi handle with one easy handle, so that each connection can be read in another thread.

    `configure` sets options of the easy handle; `connect` makes the socket and is given the time (monotonic) by which
    it must be there. The socket is a second descriptor of libcurl's: shutting it down ends what waits for either, and
    closing it hits no other.
    """

    def __init__(self, configure: Callable[[Any], None], connect: Callable[[float], socket.socket]) -> None:
        self._connect = connect
        self._process = os.getpid()
        # Reentrant: a thread that cuts a connection may collect a body, which cuts its own.
        self._lock = threading.RLock()
        self._socket: socket.socket | None = None
        self._curls_descriptor = -1
        self._wanted: dict[int, int] = {}
        self._timer: float | None = None
        self._may_connect = True
        self._exchange: Exchange | None = None
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

    def begin(self, call: WireCall) -> Exchange:
        """Start an exchange, which `advance` moves on.

        A connection that carried one before is used again if it is quiet, and then no other is made in its place:
        libcurl would send the request a second time, which a model may be answering already.
        """
        exchange = self._exchange = Exchange(call.connect_due)
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

    def advance(self, exchange: Exchange, due: float) -> None:
        """Wait for the network once, and take what comes; raises `TimeoutError` at `due` (monotonic)."""
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
        """The HTTP status of the response."""
        return self._easy.getinfo(pycurl.RESPONSE_CODE)

    def proxy_status(self) -> int:
        """The HTTP status of a proxy's answer to CONNECT; 0 if there was none."""
        return self._easy.getinfo(pycurl.HTTP_CONNECTCODE)

    def cut(self, exchange: Exchange) -> None:
        """Shut the connection down while it is `exchange`'s, whichever thread waits for it; in a forked child it is the
        parent's, and stays.
        """
        if self._process == os.getpid():
            with self._lock:
                if self._exchange is exchange and exchange.running:
                    shut_down(self._socket)

    def close(self) -> None:
        """Close the connection, also in the middle of an exchange, and free libcurl's handles."""
        self.is_reusable = False
        if self._exchange is not None:
            self._exchange.running = False
        self._remove()
        self._multi.close()
        self._easy.close()
        self._forget_socket()

    def leave_to_parent(self, nowhere: int) -> None:
        """In a forked child: what libcurl sends at the end of its handles goes to the descriptor `nowhere`."""
        self._lock = threading.RLock()
        if self._socket is not None:
            if is_same_connection(self._curls_descriptor, self._socket):
                os.dup2(nowhere, self._curls_descriptor, inheritable=False)
            self._forget_socket()

    def _act(self, exchange: Exchange, descriptor: int, events: int) -> None:
        try:
            self._multi.socket_action(descriptor, events)
            _, succeeded, failed = self._multi.info_read()
        except pycurl.error as error:
            succeeded, failed = [], [(self._easy, OF_LIBCURL, str(error))]
        if succeeded or failed:
            self._end(exchange, failed[0][1:] if failed else None)
        if exchange.connect_error is not None and not isinstance(exchange.connect_error, Exception):
            raise exchange.connect_error

    def _end(self, exchange: Exchange, failure: tuple[int, str] | None) -> None:
        with self._lock:
            exchange.running = False
        exchange.failure = failure
        if failure is not None or self._easy.getinfo(pycurl.ACTIVESOCKET) < 0:
            self.is_reusable = False
        self._remove()

    def _remove(self) -> None:
        """Take the handle out of the multi handle, and what it would keep of the request out of memory."""
        if self._is_added:
            self._is_added = False
            self._multi.remove_handle(self._easy)
            self._easy.setopt(pycurl.POSTFIELDS, b"")

    def _forget_socket(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    # What libcurl calls, in `add_handle` and `socket_action`:

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
