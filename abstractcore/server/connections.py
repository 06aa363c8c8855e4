"""Limits of HTTP connections: their number, the size of a request's head, and the time for it. uvicorn has none.

Requests that another program in front of the server may read differently are refused (RFC 9112, 3.2 and 6.1).
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .limits import Limits

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 26\r\nconnection: close\r\n\r\nthe request's head is large"
)


def limited_connections(limits: Limits) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn with these limits.

    Beyond `limits.connections`, the connection that has waited longest for a request is closed; that is the new one if
    all others are being answered. One whose first request has no complete head after `limits.head_seconds` is closed,
    and one whose client takes no byte of a response for as long.
    """
    return type(LimitedConnection.__name__, (LimitedConnection,), {"limits": limits})


class CheckedConnection(HttpToolsProtocol):
    """A connection that refuses heads of more than `limits.head_bytes`, and requests that two programs may read
    differently.
    """

    limits: ClassVar[Limits]

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._in_head = True
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
        self._has_head = False
        began_in_head = self._in_head  # else a body may end in this data
        super().data_received(data)
        still_in_head = began_in_head and self._in_head and not self._has_head
        self._received = self._received + len(data) if still_in_head else 0
        if self._received > self.limits.head_bytes and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        self._head = self._hosts = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > self.limits.head_bytes:
            raise OverflowError  # which uvicorn answers with send_400_response
        if len(name) == len(b"host") and name.lower() == b"host":
            self._hosts += 1
        elif len(name) == len(b"transfer-encoding") and name.lower() == b"transfer-encoding":
            self._check_encoding(value)
        super().on_header(name, value)

    def _check_encoding(self, value: bytes) -> None:
        if value.strip().lower() != b"chunked" or self._version != "1.1":
            raise ValueError("a body is sent as it is, or in chunks")

    def on_headers_complete(self) -> None:
        self._in_head, self._has_head = False, True
        version = self._version
        if version not in ("1.0", "1.1") or self._hosts > 1 or (version == "1.1" and not self._hosts):
            raise ValueError("a request has one Host")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        """Whether a request is the handshake of a WebSocket connection, and no response is being sent before."""
        return super()._should_upgrade() and self.scope["method"] == "GET" and self.is_waiting

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


class LimitedConnection(CheckedConnection):
    """A connection that is closed if it sends no request, or reads no response, or if there are too many."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.opened_at = self.loop.time()
        self._unread = 0
        self._timer = self.loop.call_later(self.limits.head_seconds, self._look)
        if len(self.connections) > self.limits.connections:
            self._close_one()

    def _close_one(self) -> None:
        """Closes the oldest connection that waits for a request."""
        connections = [each for each in self.connections if isinstance(each, LimitedConnection)]
        min((each for each in connections if each.is_waiting), key=lambda each: each.opened_at).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._timer.cancel()
        super().handle_websocket_upgrade()

    def _look(self) -> None:
        """Closes the connection if nothing has happened since the last time."""
        latest: Any = self.cycle
        unread = self.transport.get_write_buffer_size() if self.flow.write_paused else 0
        if latest is None or (unread and unread == self._unread):
            self.transport.abort()
        else:
            self._unread = unread
            self._timer = self.loop.call_later(self.limits.head_seconds, self._look)
