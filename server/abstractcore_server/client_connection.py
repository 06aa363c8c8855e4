"""The connection of a client: the response as it is sent, and whether the client is there."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, TypeAlias

from .configuration.settings import OnDisconnect, ServerLimits

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):  # noqa: N818 - not an error
    """The client has closed its connection: nobody reads a response."""


class Sink(Protocol):
    """Where a stream is written to. `stream_head` are the headers that go before its first part."""

    stream_head: Mapping[str, str]

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Takes a part of the stream: whole events; without `more`, the last one."""
        ...


class ClientConnection:
    """Sends one response. What is sent after the client has gone is dropped."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.receive = receive
        self._send = send
        self._lock = asyncio.Lock()
        self.started = False
        self.status: int | None = None
        """The status of the response, once it has begun."""
        self.before_end: Callable[[], None] | None = None
        """Called before the last part of a response is sent."""
        self.digest = hashlib.sha256()
        """Of the body, as far as it was sent."""
        self.copy: list[bytes] | None = None
        """The parts of the body that were sent, if they are kept."""
        self.gone = False
        self.cors_headers: Mapping[str, str] = {}
        """The headers of every response to this request, for pages of another origin."""
        self.stream_head: Mapping[str, str] = {}
        """The headers of a streamed response, which are sent before its first part."""
        self.last_sent = 0.0
        """The time of the event loop at which something was last sent."""
        self.generates = True
        """Whether a model is to answer: over WebSocket, a request may be a mere preparation."""

    @property
    def is_sending(self) -> bool:
        """Whether something is being sent: the client reads slowly."""
        return self._lock.locked()

    async def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Sends a whole response."""
        self.status = status
        self._count(body)
        self._ends()
        await self.start(status, {**headers, "content-length": str(len(body))})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Sends the head of a response."""
        self.started = True
        self.status = status
        sent = {**headers, **self.cors_headers}
        raw = [(name.encode("latin-1"), _header_value(value)) for name, value in sent.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Sends a part of the body, after parts that are being sent; without `more`, the last one."""
        async with self._lock:
            if not self.started:
                await self.start(200, self.stream_head)
            self._count(data)
            if not more:
                self._ends()
            await self._send({"type": "http.response.body", "body": data, "more_body": more})
        self.last_sent = asyncio.get_running_loop().time()

    def _count(self, data: bytes) -> None:
        self.digest.update(data)
        if self.copy is not None:
            self.copy.append(data)

    def _ends(self) -> None:
        if self.before_end is not None:
            self.before_end()

    def kept_items(self, id: str) -> Sequence[Mapping[str, Any]] | None:
        """Returns the items that a response which continues this one begins with; None if the connection has not kept
        them. HTTP keeps nothing.
        """
        return None

    def keep_items(self, earlier: Sequence[Mapping[str, Any]], given: object, size: int) -> None:
        """Keeps what a request continues, and the `input` that it gives, for a response that continues it: together
        they have `size` bytes.
        """

    async def until_gone(self) -> None:
        """Returns when the client has closed its connection. The body must have been read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.gone = True


def _header_value(value: str) -> bytes:
    """Returns a value as bytes. What a header cannot hold, as line breaks in the name of a model, becomes "?"."""
    if not value.isprintable():
        value = "".join(each if each.isprintable() else "?" for each in value)
    return value.encode("latin-1", "replace")


class Drains:
    """Counts the calls that go on without their clients; `limits.drains` of them at once, each for a limited time."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self.running = 0
        self.is_stopping = False
        """Whether the server is being stopped."""

    def watched(self, connection: ClientConnection, policy: OnDisconnect) -> DisconnectWatch:
        """Returns a context: in its body, a client that leaves cancels the current task, at once or after
        `drain_seconds`. It raises `ClientGone` when the body was cancelled for that reason.
        """
        return DisconnectWatch(self, self._limits, connection, policy)


class DisconnectWatch:
    """The watch over one call, an async context."""

    def __init__(
        self, drains: Drains, limits: ServerLimits, connection: ClientConnection, policy: OnDisconnect
    ) -> None:
        self._drains = drains
        self._limits = limits
        self._connection = connection
        self._policy = policy
        self._timer: asyncio.TimerHandle | None = None
        self._has_cancelled = False
        self._ended = False

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._watcher = asyncio.ensure_future(self._connection.until_gone())
        self._watcher.add_done_callback(self._client_left)

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._ended = True
        self._watcher.cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._drains.running -= 1
        if self._has_cancelled and kind is asyncio.CancelledError:
            self._task.uncancel()
            raise ClientGone from None

    def _client_left(self, watcher: asyncio.Future[None]) -> None:
        """Cancels the call, or lets it go on."""
        if self._ended or watcher.cancelled():
            return
        if self._policy == "cancel" or self._drains.running >= self._limits.drains:
            self._cancel()
            return
        self._drains.running += 1
        self._timer = asyncio.get_running_loop().call_later(self._limits.drain_seconds, self._cancel)

    def _cancel(self) -> None:
        self._has_cancelled = True
        self._task.cancel()
