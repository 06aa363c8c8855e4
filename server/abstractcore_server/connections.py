"""Connections of clients: their time limits, by uvicorn's protocols for HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import re
from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto
from typing import Any, ClassVar, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import SEND_EOF

from abstractcore.concurrency import ConnectionState, ConnectionTimer, make_room

from .configuration.settings import ServerLimits

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 26\r\nconnection: close\r\n\r\nthe request's head is large"
)
_ABSOLUTE_TARGET = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)(.*)", re.DOTALL)
_INVALID = "Invalid HTTP request received."
_KEY_BYTES = 16


def limited_connections(
    limits: ServerLimits,
    websocket_paths: Collection[str] = (),
    end_idle_websocket: Callable[[], bool] = lambda: False,
) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn with these limits, and with WebSocket connections at `websocket_paths`.

    Beyond `limits.connections`, the connection that has waited longest is ended; `end_idle_websocket` ends a WebSocket
    connection, and returns False if none is idle.
    """
    paths = frozenset(path.encode() for path in websocket_paths)
    members = {"limits": limits, "websocket_paths": paths, "end_idle_websocket": staticmethod(end_idle_websocket)}
    return type(LimitedConnection.__name__, (LimitedConnection,), members)


class _Reading(Enum):
    """What the parser is in."""

    NOTHING = auto()
    HEAD = auto()
    BODY = auto()


class CheckedConnection(HttpToolsProtocol):
    """A connection that refuses heads of more than `limits.head_bytes`, and requests that two programs may read
    differently.
    """

    limits: ClassVar[ServerLimits]
    websocket_paths: ClassVar[frozenset[bytes]]

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.reading = _Reading.NOTHING
        self._has_head = False
        """Whether the data that is being read completes a head."""
        self._head = 0
        """The bytes of headers so far."""
        self._hosts = 0
        """The number of headers `Host` so far."""
        self._received = 0
        """The bytes that arrived of a head that is not complete."""

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered."""
        latest: Any = self.cycle
        return latest is None or latest.response_complete

    @property
    def _version(self) -> str:
        """The version of HTTP of the request that is being read."""
        parser: Any = self.parser
        return parser.get_http_version()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._has_head = False
        began_in_head = self.reading is not _Reading.BODY  # else a body may end in this data
        try:
            self._read(data)
        except httptools.HttpParserError:
            self.logger.warning(_INVALID)
            self.send_400_response(_INVALID)
        still_in_head = began_in_head and self.reading is not _Reading.BODY and not self._has_head
        self._received = self._received + len(data) if still_in_head else 0
        if self._received > self.limits.head_bytes and not self.transport.is_closing():
            self._refuse()

    def _read(self, data: bytes) -> None:
        """Parses data. A head that offers another protocol is read again without the offer, if it is not taken."""
        rest = memoryview(data)
        while rest:
            try:
                self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as offer:
                rest = rest[offer.args[0] :]
            head = self._head_without_upgrade()
            if not rest and self._is_handshake():
                self.handle_websocket_upgrade()
                return
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
            self.parser.feed_data(head)

    def _head_without_upgrade(self) -> bytes:
        """Returns the head that has been read, without `Upgrade`. After what may be a broken handshake, the connection
        is closed: its client would send no further request.
        """
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self._version.encode())]
        lines += [b"%b: %b" % (name, value) for name, value in self.headers if name != b"upgrade"]
        if b"websocket" in self._tokens(b"upgrade"):
            lines.append(b"connection: close")
        return b"\r\n".join((*lines, b"", b""))

    def _is_handshake(self) -> bool:
        """Whether the head is a whole handshake of RFC 6455, at a path that has WebSocket connections, without a body,
        and no response is being sent before.
        """
        versions, keys = self._values(b"sec-websocket-version"), self._values(b"sec-websocket-key")
        return (
            (self.parser.get_method(), self._version) == (b"GET", "1.1")
            and self.url.partition(b"?")[0] in self.websocket_paths
            and self._tokens(b"upgrade") == [b"websocket"]
            and b"upgrade" in self._tokens(b"connection")
            and (versions, len(keys)) == ([b"13"], 1)
            and _is_websocket_key(keys[0])
            and self._values(b"content-length") in ([], [b"0"])
            and not self._values(b"transfer-encoding")
            and self.is_waiting
        )

    def _values(self, name: bytes) -> list[bytes]:
        return [value.strip() for each, value in self.headers if each == name]

    def _tokens(self, name: bytes) -> list[bytes]:
        return [token.strip().lower() for value in self._values(name) for token in value.split(b",")]

    def on_message_begin(self) -> None:
        self._head = self._hosts = 0
        self.reading = _Reading.HEAD
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > self.limits.head_bytes:
            raise OverflowError  # which becomes send_400_response
        if len(name) == len(b"host") and name.lower() == b"host":
            self._hosts += 1
        elif len(name) == len(b"transfer-encoding") and name.lower() == b"transfer-encoding":
            self._check_encoding(value)
        super().on_header(name, value)

    def _check_encoding(self, value: bytes) -> None:
        if value.strip().lower() != b"chunked" or self._version != "1.1":
            raise ValueError("a body is sent as it is, or in chunks")

    def on_headers_complete(self) -> None:
        version = self._version
        if version not in ("1.0", "1.1") or self._hosts > 1 or (version == "1.1" and not self._hosts):
            raise ValueError("a request has one Host")
        if self.parser.get_method() == b"CONNECT":
            raise ValueError("this server is not a proxy")
        self._take_host_of_target()
        self._has_head = True
        if self.parser.should_upgrade():
            self.scope["method"] = self.parser.get_method().decode()
            return
        self.reading = _Reading.BODY
        super().on_headers_complete()

    def _take_host_of_target(self) -> None:
        """Lets the host of an absolute target be that of the request, whatever `Host` says (RFC 9112, 3.2.2)."""
        target = _ABSOLUTE_TARGET.fullmatch(self.url)
        if target is None:
            return
        host, path = target.groups()
        if not host or b"@" in host:
            raise ValueError("the target of a request has a host, and no user")
        self.url = path if path.startswith(b"/") else b"/" + path
        self.headers[:] = [(b"host", host), *(each for each in self.headers if each[0] != b"host")]

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():  # else the head is yet to be read again
            self.reading = _Reading.NOTHING
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head > self.limits.head_bytes:
            self._refuse()
        elif not self.is_waiting and self.cycle.response_started:
            self.transport.abort()  # a response inside another one would be read as a part of it
        else:
            super().send_400_response(msg)

    def _refuse(self) -> None:
        """Ends the connection of a head that is too large."""
        if self.is_waiting:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        else:
            self.transport.abort()


def _is_websocket_key(value: bytes) -> bool:
    try:
        return len(base64.b64decode(value, validate=True)) == _KEY_BYTES
    except binascii.Error:
        return False


class LimitedConnection(CheckedConnection):
    """A connection that is ended after the time of each state, or if there are too many."""

    end_idle_websocket: ClassVar[staticmethod[[], bool]]

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.timer = ConnectionTimer(self.loop, transport, self._seconds())
        self._update()
        if len(self.connections) > self.limits.connections:
            timers = [each.timer for each in cast("set[Any]", self.connections)]
            make_room(timers, self.timer, self.end_idle_websocket)

    def _seconds(self) -> Mapping[ConnectionState, float]:
        limits = self.limits
        return {
            ConnectionState.HEAD: limits.head_seconds,
            ConnectionState.REST: limits.body_seconds,
            ConnectionState.SENDING: limits.head_seconds,
            ConnectionState.IDLE: self.timeout_keep_alive,
            ConnectionState.CLOSING: limits.head_seconds,
        }

    def _update(self) -> None:
        self.timer.enter(self._state())

    def _state(self) -> ConnectionState:
        latest: Any = self.cycle
        if self.transport.is_closing():
            return ConnectionState.CLOSING
        if self.flow.write_paused:
            return ConnectionState.SENDING
        if not self.is_waiting:
            has_body = latest.response_started or not latest.more_body
            return ConnectionState.ANSWER if has_body else ConnectionState.BODY
        if self.reading is _Reading.BODY:
            return ConnectionState.REST
        is_first = latest is None
        return ConnectionState.HEAD if is_first or self.reading is _Reading.HEAD else ConnectionState.IDLE

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._update()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._update()

    def handle_websocket_upgrade(self) -> None:
        self.timer.stop()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self.timer.stop()
        super().connection_lost(exc)


PING_SECONDS = 20.0
"""After how long a client is asked whether it is there."""
_FAULTS_OF_CLIENTS = ("ASGI callable returned without completing handshake", "Invalid UTF-8 sequence")
"""How uvicorn's errors begin for refused handshakes and broken text."""
_log = logging.getLogger("abstractcore.server.websockets")
_log.setLevel(logging.ERROR)  # uvicorn logs whole URLs, in which a key may be
_log.addFilter(lambda line: not line.getMessage().startswith(_FAULTS_OF_CLIENTS))


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A connection that is cut after the time of each state, or without a pong."""

    seconds: ClassVar[Mapping[ConnectionState, float]]
    """The time of each state that has a limit."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = self.conn.logger = _log
        self.conn.debug = False  # else it logs headers, with keys

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.timer = ConnectionTimer(self.loop, transport, self.seconds)
        self._update()

    def _update(self) -> None:
        if self.close_sent or self.transport.is_closing():
            self.timer.enter(ConnectionState.CLOSING)
        elif not self.handshake_complete:
            self.timer.enter(ConnectionState.HANDSHAKE)
        elif self.frames or self.conn.reader.buffer:
            self.timer.enter(ConnectionState.MESSAGE)
        else:
            self.timer.enter(ConnectionState.OPEN)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update()

    def send_receive_event_to_app(self) -> None:
        self.timer.enter(ConnectionState.OPEN)  # the message is complete; the next one has a time of its own
        super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        """Sends the reason, and drops what is still read: with unread input, TCP would reset what was said."""
        close = self.conn.close_sent
        if self.close_sent or close is None:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": close.code, "reason": close.reason})
        output = self.conn.data_to_send()
        self.transport.write(b"".join(output))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        if output[-1] == SEND_EOF and self.transport.can_write_eof():
            self.transport.write_eof()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)

    async def send(self, message: Any) -> None:
        await super().send(message)
        self._update()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        self.timer.stop()
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # a client that reads nothing would hold what was written to it

    def shutdown(self) -> None:
        """Does nothing: the application closes the connection, when its response has ended."""


def limited_websockets(limits: ServerLimits) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn with these limits: of a handshake, a message, and a client that takes nothing.

    The states of a connection are those of `ConnectionTimer`.
    """

    class Limited(LimitedWebSocket):
        seconds: ClassVar[Mapping[ConnectionState, float]] = {
            ConnectionState.HANDSHAKE: limits.head_seconds,
            ConnectionState.MESSAGE: limits.body_seconds,
            ConnectionState.CLOSING: limits.head_seconds,
        }

    return Limited
