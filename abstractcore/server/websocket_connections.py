"""Limits of WebSocket connections: the size of a message, the time for it, and clients that do not answer."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from .limits import Limits

PING_SECONDS = 20.0
"""After how long a client is asked whether it is there."""
_FAULTS_OF_CLIENTS = ("ASGI callable returned without completing handshake", "Invalid UTF-8 sequence")
"""How uvicorn's errors begin for refused handshakes and broken text."""
_log = logging.getLogger("abstractcore.server.websockets")
_log.setLevel(logging.ERROR)  # uvicorn logs whole URLs, in which a key may be
_log.addFilter(lambda line: not line.getMessage().startswith(_FAULTS_OF_CLIENTS))


def limited_websockets(limits: Limits) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn with these limits: a message has to arrive within `limits.body_seconds`."""

    class LimitedWebSocket(WebSocketsSansIOProtocol):
        """A connection that is cut if a message does not arrive in time, or no pong."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.logger = self.conn.logger = _log
            self.conn.debug = False  # else it logs headers, with keys
            self._timer: asyncio.TimerHandle | None = None

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            is_partial = bool(self.frames or self.conn.reader.buffer) and not self.transport.is_closing()
            if not is_partial:
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(limits.body_seconds, self.transport.abort)

        def send_receive_event_to_app(self) -> None:
            self._stop_timer()  # the message is complete
            super().send_receive_event_to_app()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def keepalive_timeout(self) -> None:
            super().keepalive_timeout()
            self.transport.abort()  # a client that reads nothing would hold what was written to it

        def shutdown(self) -> None:
            """Does nothing: the application closes the connection, when its response has ended."""

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedWebSocket
