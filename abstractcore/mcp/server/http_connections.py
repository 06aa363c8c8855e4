"""Limits of HTTP connections: their number, and the time of each state. uvicorn waits for requests forever."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import h11
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...concurrency.connection_timers import ConnectionState, ConnectionTimer, make_room

_CLOSE = {"Connection": "close"}


def limited_connections(most: int, seconds: float) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn for `most` connections. When there is one more, the connection that has waited
    longest is ended; that is the new one if all others are being answered. The states of a connection are those of
    `ConnectionTimer`: `seconds` is the time of each but the keep-alive time, which is uvicorn's.
    """
    limited = (ConnectionState.HEAD, ConnectionState.REST, ConnectionState.SENDING, ConnectionState.CLOSING)

    class LimitedH11Connection(H11Protocol):
        """A connection that is ended after the time of each state, or if there are too many."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            times = {**dict.fromkeys(limited, seconds), ConnectionState.IDLE: self.timeout_keep_alive}
            self.timer = ConnectionTimer(self.loop, transport, times)
            self._update()
            if len(self.connections) > most:
                make_room([each.timer for each in cast("set[Any]", self.connections)], self.timer)

        def _update(self) -> None:
            self.timer.enter(self._state())

        def _state(self) -> ConnectionState:
            latest: Any = self.cycle
            if self.transport.is_closing():
                return ConnectionState.CLOSING
            if self.flow.write_paused:
                return ConnectionState.SENDING
            if latest is not None and not latest.response_complete:
                has_body = latest.response_started or not latest.more_body
                return ConnectionState.ANSWER if has_body else ConnectionState.BODY
            if self.conn.their_state is h11.SEND_BODY:
                return ConnectionState.REST
            return ConnectionState.HEAD if latest is None or self.conn.trailing_data[0] else ConnectionState.IDLE

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

        def connection_lost(self, exc: Exception | None) -> None:
            self.timer.stop()
            super().connection_lost(exc)

    return LimitedH11Connection


class CompleteRequests:
    """Passes on requests whose body is complete within `seconds` and not longer than `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body: bytes | None
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._body(scope, receive)
        except TimeoutError:
            await PlainTextResponse("The request took too long", 408, _CLOSE)(scope, receive, send)
            return
        except OverflowError:
            await PlainTextResponse(f"The limit is {self._limit} bytes", 413, _CLOSE)(scope, receive, send)
            return
        if body is not None:
            await self._app(scope, _replayed(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Returns the body; None if the client has gone. Raises `OverflowError`."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if int(declared) > self._limit:
            raise OverflowError
        pieces = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            pieces += message.get("body", b"")
            if len(pieces) > self._limit:
                raise OverflowError
            if not message.get("more_body", False):
                return bytes(pieces)


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again
