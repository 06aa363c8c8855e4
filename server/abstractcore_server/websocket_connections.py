"""Limits of WebSocket connections: the size of a message, the time for it, and clients that do not answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import SEND_EOF

from abstractcore.concurrency import ConnectionState, ConnectionTimer

from .limits import Limits

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
        """Says why it closes, and drops what is still read: with unread input, TCP would reset what was said."""
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


def limited_websockets(limits: Limits) -> type[asyncio.Protocol]:
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
