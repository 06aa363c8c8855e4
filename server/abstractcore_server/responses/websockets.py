"""`WebSockets`: the WebSocket connections of clients, which ask over them for responses in parallel streams."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from abstractcore.concurrency import is_large, off_loop
from abstractcore.errors import OverloadedError, RateLimitError
from abstractcore.ports import Runtime

from ..configuration.settings import ServerLimits
from ..context import Reply, RequestContext
from ..failures import refusal
from ..requests import ClientConnection, Message, Receive, Send
from .items import compact
from .websocket_turns import RecentResponses, TurnConnection, TurnRequest

Answer: TypeAlias = Callable[[Mapping[str, Any], ClientConnection], Awaitable[None]]

_MOST_WAITING = 16
"""How many messages may wait for the responses to others."""
_MOST_STREAMS = 32
"""How many names of streams a connection may use (https://developers.openai.com/api/docs/guides/websocket-mode)."""
_OF_HANDSHAKE = ("connection", "content-", "origin", "sec-websocket-", "transfer-encoding", "upgrade")
"""How the names of headers begin that are about the handshake alone."""


class _End(NamedTuple):
    """Why a connection ends. `code` is that of its close frame (RFC 6455, 7.4.1)."""

    code: int
    reason: str = ""
    error: str | None = None
    """The code of an error that is sent before."""


_GONE = _End(1005)
_EXPIRED = _End(1000, "the connection is too old", "websocket_connection_limit_reached")
_STOPPING = _End(1001, "the server is being stopped")
_REPLACED = _End(1013, "the server has too many connections, and this one was idle")
_FLOODED = _End(1008, "too many messages wait for an answer")
_REVOKED = _End(1008, "the key is not valid any more")


class WebSockets:
    """The open connections.

    `answer` answers a request of an ASGI scope. The handshake is one, and so is each message: access, limits, metrics,
    receipts and the audit log are those of every request.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._open: set[Socket] = set()
        self._is_stopping = False

    @property
    def open(self) -> int:
        """How many connections are open."""
        return len(self._open)

    async def serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers a handshake, and then the messages of the connection (ASGI)."""
        await receive()  # websocket.connect
        handshake = Handshake(receive, send, self)
        await self._answer({**scope, "method": "GET"}, handshake)
        if handshake.accepted is not None:
            socket = Socket(scope, receive, send, *handshake.accepted, self._answer)
            self._open.add(socket)
            if self._is_stopping:
                socket.end(_STOPPING)
            try:
                await socket.serve()
            finally:
                self._open.discard(socket)

    def make_room(self, limits: ServerLimits) -> None:
        """Makes room for one more connection: at the limit, the one that has been idle longest is closed.

        Raises `RateLimitError` if responses are made over all of them, and `OverloadedError` while the server is being
        stopped.
        """
        if self._is_stopping:
            raise OverloadedError("the server is being stopped")
        staying = [each for each in self._open if not each.is_ending]
        if len(staying) >= limits.websockets and not self.end_idle():
            raise RateLimitError("the server has reached its limit of WebSocket connections", retry_after=1)

    def end_idle(self) -> bool:
        """Closes the connection that has been idle longest; returns False if there is none."""
        idle = [each for each in self._open if not each.is_ending and each.idle_since is not None]
        if idle:
            min(idle, key=lambda each: each.idle_since or 0.0).end(_REPLACED)
        return bool(idle)

    def stop(self) -> None:
        """Closes all connections, each when the response that is being made has ended."""
        self._is_stopping = True
        for socket in self._open:
            socket.end(_STOPPING)


class Handshake(ClientConnection):
    """Answers the handshake of a connection: with a response if it is refused. `accepted` are the limits of one that
    was accepted, and the runtime that its messages are read with.
    """

    def __init__(self, receive: Receive, send: Send, sockets: WebSockets) -> None:
        async def receive_http() -> Message:
            return {"type": (await receive())["type"].replace("websocket.", "http.")}

        async def send_http(message: Message) -> None:
            await send({**message, "type": f"websocket.{message['type']}"})

        super().__init__(receive_http, send_http)
        self._accept = send
        self._sockets = sockets
        self.accepted: tuple[ServerLimits, Runtime] | None = None

    async def accept(self, context: RequestContext) -> None:
        """Accepts the connection; raises as `WebSockets.make_room`."""
        limits = context.state.settings.limits
        self._sockets.make_room(limits)
        self.started, self.status = True, 101
        self._ends()
        raw = [(name.encode(), value.encode()) for name, value in context.headers().items()]
        await self._accept({"type": "websocket.accept", "headers": raw})
        self.accepted = limits, context.state.services.async_runtime


async def open_websocket(context: RequestContext) -> Reply:
    """Opens a WebSocket connection for responses. Raises `RequestRefused` for another request than its handshake."""
    if not isinstance(context.connection, Handshake):
        message = "GET is for WebSocket connections, with a whole handshake; a request for a response is a POST"
        raise refusal(426, message, upgrade="websocket")
    return _Accepted(context)


class _Accepted:
    """The answer to a handshake."""

    def __init__(self, context: RequestContext) -> None:
        self._context = context

    async def send_to(self, connection: ClientConnection) -> None:
        """Accepts the connection."""
        assert isinstance(connection, Handshake)
        await connection.accept(self._context)


class Socket:
    """One connection. The messages of each stream, and those without one, are answered one after the other, in the
    order of their arrival; streams do not wait for each other.
    """

    def __init__(
        self,
        scope: Mapping[str, Any],
        receive: Receive,
        send: Send,
        limits: ServerLimits,
        runtime: Runtime,
        answer: Answer,
    ) -> None:
        headers = [each for each in scope["headers"] if not each[0].decode("latin-1").lower().startswith(_OF_HANDSHAKE)]
        self._scope = {**scope, "method": "POST", "headers": headers}
        self._receive = receive
        self._send = send
        self._limits = limits
        self._runtime = runtime
        self._answer = answer
        self._waiting: dict[str | None, deque[TurnRequest]] = {}
        """The messages that wait, by the streams of which a response is being made."""
        self._gone = asyncio.Event()
        self._end: _End | None = None
        self._ends = asyncio.Event()
        self._recent = RecentResponses(limits.body_bytes)
        self._streams: set[str] = set()
        self.idle_since: float | None = asyncio.get_running_loop().time()
        """The time of the event loop since when no response is being made; None while any is."""

    @property
    def is_ending(self) -> bool:
        """Whether the connection is being closed."""
        return self._end is not None

    def end(self, end: _End) -> None:
        """Closes the connection when the responses that are being made have ended."""
        if self._end is None:
            self._end = end
            self._ends.set()

    async def serve(self) -> None:
        """Answers all messages, and closes the connection."""
        timer = asyncio.get_running_loop().call_later(self._limits.websocket_seconds, self.end, _EXPIRED)
        streams = asyncio.TaskGroup()
        reader = asyncio.create_task(self._read(streams))
        try:
            async with streams:
                try:
                    await self._ends.wait()
                finally:
                    self.end(_GONE)  # of a server that ends at once: nothing more is begun
            await self._close()
        finally:
            timer.cancel()
            reader.cancel()

    async def _read(self, streams: asyncio.TaskGroup) -> None:
        """Reads messages, also while responses are being made: only so it is known that the client has left."""
        try:
            while (message := await self._receive())["type"] == "websocket.receive":
                if self.is_ending:
                    continue
                large = is_large(message.get("text") or "")
                request = await off_loop(self._runtime, large, TurnRequest.of, message)
                if not self.is_ending and not self._take(request, streams):
                    self.end(_FLOODED)
                    return
        finally:
            self.end(_GONE)
            self._gone.set()

    def _take(self, request: TurnRequest, streams: asyncio.TaskGroup) -> bool:
        """Begins to answer a message, or lets it wait for the one before it in its stream; returns False if too much
        waits.
        """
        name = self._stream_of(request)
        behind = self._waiting.get(name)
        if behind is None:
            self._waiting[name] = deque()
            self.idle_since = None
            streams.create_task(self._answer_stream(name, request))
            return True
        waiting = [len(each.body) for stream in self._waiting.values() for each in stream]
        if len(waiting) >= _MOST_WAITING or (waiting and sum(waiting) + len(request.body) > self._limits.body_bytes):
            return False
        behind.append(request)
        return True

    def _stream_of(self, request: TurnRequest) -> str | None:
        """Returns the name of the stream of a message; of one stream too many, whose message is refused, None."""
        name = request.stream_id
        if name is not None and name not in self._streams:
            if len(self._streams) == _MOST_STREAMS:
                message, code = f"a connection has at most {_MOST_STREAMS} streams", "websocket_stream_limit_reached"
                request.problem = refusal(400, message, path="stream_id", code=code)
                return None
            self._streams.add(name)
        return name

    async def _answer_stream(self, name: str | None, request: TurnRequest) -> None:
        """Answers a message, and then those of its stream that wait."""
        waiting = self._waiting[name]
        await self._turn(request)
        while waiting and not self.is_ending:
            await self._turn(waiting.popleft())
        del self._waiting[name]
        if not self._waiting:
            self.idle_since = asyncio.get_running_loop().time()

    async def _turn(self, request: TurnRequest) -> None:
        connection = TurnConnection(request, self._send_text, self._gone, self._recent, self._runtime)
        await self._answer(self._scope, connection)
        if connection.status == 401 and not connection.is_let_in:  # else it is the key of a provider
            self.end(_REVOKED)

    async def _send_text(self, text: str) -> None:
        if self._end is not _GONE:
            await self._send({"type": "websocket.send", "text": text})

    async def _close(self) -> None:
        end = self._end
        if end is None or end is _GONE:
            return
        with suppress(OSError):  # the client has left meanwhile
            if end.error is not None:
                message = f"a connection may be open for {self._limits.websocket_seconds:g} seconds: open a new one"
                error = {"type": "invalid_request_error", "code": end.error, "message": message, "param": None}
                await self._send_text(compact({"type": "error", "status": 400, "error": error}).decode())
            await self._send({"type": "websocket.close", "code": end.code, "reason": end.reason})
