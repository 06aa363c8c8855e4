"""A message of a WebSocket connection as a request, and what a connection keeps."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from abstractcore.concurrency import is_large, off_loop
from abstractcore.errors import InvalidInputError
from abstractcore.framing import ServerSentEventFramer
from abstractcore.ports import Runtime

from ..dialects.base import flag_at
from ..failures import RequestRefused, refusal
from ..requests import ClientConnection, Message, read_object
from .items import Item, compact, stored_items


@dataclass(frozen=True, slots=True)
class RecentResponse:
    """A response with the items that one which continues it begins with; `size` is what they take, in bytes."""

    id: str
    items: Sequence[Item]
    size: int


class RecentResponses:
    """Keeps responses of up to `most_bytes` together, in the memory of a connection: the oldest ones are forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: dict[str | None, RecentResponse] = {}

    def items(self, id: str) -> Sequence[Item] | None:
        """Returns the items that a response which continues this one begins with; None if it is not kept."""
        return next((each.items for each in self._kept.values() if each.id == id), None)

    def add(self, stream: str | None, response: RecentResponse) -> None:
        """Keeps a response instead of the one before it in its stream."""
        self._kept.pop(stream, None)
        self._kept[stream] = response
        while sum(each.size for each in self._kept.values()) > self._most:
            del self._kept[next(iter(self._kept))]


_CREATE = "response.create"
_STREAM_ID = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_LAST_EVENTS = ("response.completed", "response.incomplete")
_DONE = b"[DONE]"
_OF_BODY = ("content-length", "content-type")


@dataclass(slots=True)
class TurnRequest:
    """What a message asks for: the `body` of the same request over HTTP, or the `problem` with it.

    `stream_id` is repeated in each event. Without `generates`, the response has no output.
    """

    body: bytes = b""
    stream_id: str | None = None
    generates: bool = True
    problem: InvalidInputError | RequestRefused | None = None

    @classmethod
    def of(cls, message: Message) -> TurnRequest:
        """Returns the request of a message (ASGI)."""
        request = cls()
        try:
            request._read(message)
        except (InvalidInputError, RequestRefused) as error:
            request.problem = error
        return request

    def _read(self, message: Message) -> None:
        text: str | None = message.get("text")
        if text is None:
            raise refusal(400, "the message is binary: send JSON as a text message")
        data = read_object(text.encode(), {})
        self.stream_id = _stream_id(data.pop("stream_id", None))
        kind = data.pop("type", None)
        if kind != _CREATE:
            raise InvalidInputError(f"expected {_CREATE!r}, got {str(kind)[:100]!r}", path="type")
        if flag_at(data, "background"):
            raise InvalidInputError("over WebSocket, responses are not made in the background", path="background")
        self.generates = flag_at(data, "generate", True)
        data.pop("generate", None)
        self.body = compact({**data, "stream": True})


def _stream_id(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _STREAM_ID.fullmatch(value)):
        return value
    message = "expected 1 to 256 letters, digits, underscores, hyphens and periods"
    raise refusal(400, message, path="stream_id", code="invalid_stream_id")


class TurnConnection(ClientConnection):
    """Sends the answer to one message: each event as a text message, and an error, at any time, as an event with a
    status.

    `send_text` sends a text message. `gone` is set when the client has left. What the response continues, and what
    continues it, is in `recent`. Large events are read in worker threads of `runtime`.
    """

    def __init__(
        self,
        request: TurnRequest,
        send_text: Callable[[str], Awaitable[None]],
        gone: asyncio.Event,
        recent: RecentResponses,
        runtime: Runtime,
    ) -> None:
        super().__init__(self._receive, self._refuse_message)
        self._request = request
        self._send_text = send_text
        self._gone = gone
        self._recent = recent
        self._runtime = runtime
        self._framer = ServerSentEventFramer()
        self._is_read = False
        self._earlier: Sequence[Item] | None = None
        self._size = 0
        self.generates = request.generates

    async def _receive(self) -> Message:
        """Returns the body of the request, and then that the client has left (ASGI)."""
        if not self._is_read:
            self._is_read = True
            if self._request.problem is not None:
                raise self._request.problem
            return {"type": "http.request", "body": self._request.body}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _refuse_message(self, message: Message) -> None:
        raise AssertionError(message["type"])

    @property
    def is_let_in(self) -> bool:
        """Whether the key of the request was valid: only then its body is read."""
        return self._is_read

    def kept_items(self, id: str) -> Sequence[Item] | None:
        """Returns the items that a response which continues this one begins with; None if it is not kept here."""
        return self._recent.items(id)

    def keep_items(self, earlier: Sequence[Item], given: object, size: int) -> None:
        """Keeps what the request continues, and its `input`, together with the response."""
        self._earlier = [*earlier, *stored_items(given, "input")]
        self._size = size

    async def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Sends the event of an error, of which `body` is the response."""
        self.status = status
        error = json.loads(body)["error"]
        kept = {name: value for name, value in headers.items() if name not in _OF_BODY}
        # The openai package has the headers in the error, Codex beside it.
        event = {"type": "error", "status": status, "error": {**error, "headers": kept}, "headers": kept}
        await self._send_all([compact(event)], more=False)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Keeps the status: there is no head that would have to be sent before an error."""
        self.status = status

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Sends the events in a part of a stream, after those that are being sent."""
        async with self._lock:
            await self.start(200, self.stream_head)
            events = self._framer.feed(data)
            for event in events:
                if event.event in _LAST_EVENTS:
                    await self._keep(event.data)
            await self._send_all([event.data for event in events if event.data != _DONE], more=more)
        self.last_sent = asyncio.get_running_loop().time()

    async def _keep(self, event: bytes) -> None:
        if self._earlier is not None:
            data = await off_loop(self._runtime, is_large(event), json.loads, event)
            response = data["response"]
            items = [*self._earlier, *response["output"]]
            recent = RecentResponse(response["id"], items, self._size + len(event))
            self._recent.add(self._request.stream_id, recent)

    async def _send_all(self, events: Sequence[bytes], *, more: bool) -> None:
        named = [self._with_stream_id(event) for event in events]
        for event in named:
            self._count(event + b"\n")
        if not more:
            self._ends()
        with suppress(OSError):  # the client has left
            for event in named:
                await self._send_text(event.decode("utf-8", "replace"))

    def _with_stream_id(self, event: bytes) -> bytes:
        """Returns an event with the id of its stream."""
        if self._request.stream_id is None:
            return event
        return b'{"stream_id":"%s",%s' % (self._request.stream_id.encode(), event.lstrip()[1:])
