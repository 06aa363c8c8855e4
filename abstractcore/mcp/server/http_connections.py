"""Limits of HTTP connections: their number, and the time for a request. uvicorn waits for requests forever."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

_CLOSE = {"Connection": "close"}


def limited_connections(most: int, seconds: float) -> type[asyncio.Protocol]:
    """Returns the protocol of uvicorn for `most` connections. When there is one more, the connection that has waited
    longest for a request is closed; that is the new one if all others are being answered. One whose first request has
    no complete head after `seconds` is closed, and one whose client takes no byte of an answer for as long; uvicorn
    itself closes idle ones after a request.
    """

    class LimitedConnection(H11Protocol):
        """A connection that is closed if it sends no request."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.opened_at = self.loop.time()
            self._unread = 0
            self._timer = self.loop.call_later(seconds, self._look)
            if len(self.connections) > most:
                connections = [each for each in self.connections if isinstance(each, LimitedConnection)]
                waiting = [each for each in connections if each.is_waiting]
                min(waiting, key=lambda each: each.opened_at).transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            super().connection_lost(exc)

        @property
        def is_waiting(self) -> bool:
            """Whether no request is being answered."""
            latest: Any = self.cycle
            return latest is None or latest.response_complete

        def _look(self) -> None:
            latest: Any = self.cycle
            unread = self.transport.get_write_buffer_size() if self.flow.write_paused else 0
            if latest is None or (unread and unread == self._unread):
                self.transport.abort()
            else:
                self._unread = unread
                self._timer = self.loop.call_later(seconds, self._look)

    return LimitedConnection


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
