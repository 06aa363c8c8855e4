"""A request and its response: the head and the body that a client sends, the ids of its trace, and the connection that
the response is sent by.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast
from urllib.parse import parse_qsl

import jiter

from abstractcore.errors import InvalidInputError, RequestTimeoutError

from .configuration.settings import OnDisconnect, ServerLimits
from .failures import RequestRefused, refusal

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class ClientGone(Exception):  # noqa: N818 - not an error
    """The client has closed its connection: nobody reads a response."""


_CREDENTIALS_IN_URLS = ("key", "api_key", "api-key", "apikey", "access_token", "token")


@dataclass(slots=True)
class RequestHead:
    """A request without its body. Header names are lower-case; a repeated header's values are joined with commas.

    `path` is as it was sent, with its percent-encoding: routes match it literally, so that no spelling of a path is
    another route. `parameters` are the named parts of the route's pattern, decoded. `query` is not decoded.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = field(repr=False)
    trace_id: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, scope: Mapping[str, Any], trace_id: str) -> RequestHead:
        """Returns the request of an ASGI scope."""
        headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        query: bytes = scope["query_string"]
        return cls(scope["method"], raw_path.decode("latin-1"), query.decode("latin-1"), headers, trace_id)

    @property
    def target(self) -> str:
        """The path with its query, as a wire format reads it."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def query_values(self) -> dict[str, str]:
        """Returns the decoded parameters of the query; of a repeated one, the last."""
        return dict(parse_qsl(self.query, keep_blank_values=True)) if self.query else {}

    @property
    def has_credential_in_url(self) -> bool:
        """Whether the query has a parameter for a key: proxies and logs keep URLs."""
        return any(name in _CREDENTIALS_IN_URLS for name in self.query_values())


_GZIP = 16 + zlib.MAX_WBITS
_AS_JSON = ("", "application/json", "application/x-www-form-urlencoded")
"""Content types of JSON. The last one is what curl sends with `-d`, as in vendors' documentation. A form that a web
page sends has an `Origin`, for which `Origins` has refused it before.
"""


async def read_body(receive: Receive, headers: Mapping[str, str], limits: ServerLimits) -> bytes:
    """Returns the whole body, unpacked if it has `Content-Encoding: gzip`.

    Raises `RequestRefused` with 408, 413 or 415, and `ClientGone` if the client leaves before its end.
    """
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise refusal(415, f"Content-Encoding {encoding[:40]!r} is not supported: use gzip, or none")
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limits.body_bytes):
        raise too_large(limits)
    try:
        async with asyncio.timeout(limits.body_seconds):
            body = await _receive_body(receive, limits)
    except TimeoutError:
        error = RequestTimeoutError(f"the body did not arrive within {limits.body_seconds:g} seconds")
        raise RequestRefused(408, error, connection="close") from None
    return _unpack(body, limits) if encoding == "gzip" else body


async def _receive_body(receive: Receive, limits: ServerLimits) -> bytes:
    message = await receive()
    if message["type"] != "http.request":
        raise ClientGone
    if not message.get("more_body", False):
        body: bytes = message.get("body", b"")
        if len(body) > limits.body_bytes:
            raise too_large(limits)
        return body
    pieces = bytearray(message.get("body", b""))
    while message.get("more_body", False):
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        pieces += message.get("body", b"")
        if len(pieces) > limits.body_bytes:
            raise too_large(limits)
    return bytes(pieces)


def _unpack(body: bytes, limits: ServerLimits) -> bytes:
    """Returns an unpacked body. One packed body may contain another, but not several after each other."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, limits.body_bytes + 1)
    except zlib.error:
        raise refusal(400, "the body is not gzip, as its Content-Encoding says") from None
    if len(unpacked) > limits.body_bytes:
        raise too_large(limits)
    if not unpacker.eof or unpacker.unused_data:
        raise refusal(400, "the body is not one complete gzip stream")
    return unpacked


def too_large(limits: ServerLimits) -> RequestRefused:
    """Returns the refusal of a body that is too large. The connection stays open, and the rest of the body is dropped:
    a client or a proxy that still sends to a closed one would see a reset, and no response.
    """
    return refusal(413, f"the body is larger than {limits.body_bytes} bytes")


def read_object(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Returns the JSON object in a body.

    Raises `RequestRefused` with 415 for another content type, and `InvalidInputError` for what is not a JSON object, or
    beyond the parser's limits: 200 levels, 4,300 digits.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _AS_JSON and not kind.endswith("+json"):
        raise refusal(415, f"Content-Type {kind[:80]!r} is not supported here: send application/json")
    try:
        value = jiter.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInputError(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError(f"the body must be a JSON object, got {type(value).__name__}")
    return cast("dict[str, Any]", value)


_waiting: ContextVar[list[str] | None] = ContextVar("abstractcore_server_trace_ids", default=None)


def new_trace_id() -> str:
    """Returns 32 hex digits (W3C Trace Context) that no one can guess."""
    return secrets.token_hex(16)


def begin_request(trace_id: str) -> None:
    """Makes `trace_id` the id of the first call of this task and its tasks; further calls get ids of their own."""
    _waiting.set([trace_id])


def next_trace_id() -> str:
    """Returns the id of a call that begins: the `new_id` of the server's `Services`."""
    waiting = _waiting.get()
    return waiting.pop() if waiting else new_trace_id()


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

    def watch(self, connection: ClientConnection, policy: OnDisconnect) -> DisconnectWatch:
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
