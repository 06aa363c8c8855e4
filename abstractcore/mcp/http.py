"""The transport to a server over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

from ..schema.base_error import shown
from ..transport import RoutedTransport, TransportSettings

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_CONNECT_SECONDS = 30.0
_READ_SECONDS = 300.0
"""The pause after which a stream counts as lost: servers send comments to keep it alive."""

_EVENT_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
_KEY_HINT = " Pass headers={'Authorization': ...} or auth=..."
_STATUS_HINTS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: " Check the path of its URL: many servers have /mcp.",
}


@dataclass
class HTTPNotes:
    """What is known of a server at `address` (host and port). `status` is that of its last answer that was an error.

    `has_ended` says that the server has forgotten the session: it answers its requests with 404, without handling them
    (https://modelcontextprotocol.io/specification/2025-11-25, "Transports": session management).
    """

    address: str
    status: int | None = None
    has_answered: bool = False
    has_ended: bool = False
    problem: str | None = None

    def described(self) -> str:
        """Returns sentences about the last error, or that there was no answer; empty if there is nothing to say."""
        if not self.has_answered:
            return f"Nothing has answered at {self.address}. Start the server there, or check its URL."
        if self.problem is not None:
            return f"It {self.problem}."
        if self.status is None:
            return ""
        return f"Its last error was HTTP {self.status}.{_STATUS_HINTS.get(self.status, '')}"


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], auth: httpx2.Auth | None, longest: int, notes: HTTPNotes
) -> AsyncGenerator[TransportStreams]:
    """Yields the streams of messages from and to a server.

    A message may have `longest` bytes. Redirects are followed within the origin of `url` only, and keep the method:
    headers never leave it.
    """

    async def note(response: httpx2.Response) -> None:
        notes.has_answered = True
        if response.status_code >= 400:
            notes.status = response.status_code
        if response.status_code == 404 and "mcp-session-id" in response.request.headers:
            notes.has_ended = True
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":  # its size is known only when it is decoded
            notes.problem = f"sent an answer in the encoding {shown(encoding)}, which was not asked for"
            response.stream = _RefusedBody(response.stream)
            return
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = (_BoundedEventStream if is_stream else _BoundedBody)(response.stream, longest, notes)

    client = httpx2.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        auth=auth,
        transport=RoutedTransport(TransportSettings()),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS),
        event_hooks={"response": [note]},
    )
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=longest) as streams:
        yield streams


class _RefusedBody(httpx2.AsyncByteStream):
    """A body that is not read."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        raise httpx2.StreamError("the answer has an encoding that was not asked for")
        yield b""

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedBody(httpx2.AsyncByteStream):
    """A body that ends with an error when it is too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, longest: int, notes: HTTPNotes) -> None:
        self._stream = stream
        self._longest = longest
        self._notes = notes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._longest:
                self._note_length()
                raise httpx2.StreamError(f"the message has more than {self._longest:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _note_length(self) -> None:
        self._notes.problem = f"sent a message of more than {self._longest:,} bytes"


class _BoundedEventStream(_BoundedBody):
    """A stream of events. The SDK ends it at an event that is too long, and does not say why: that is noted."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, tail = 0, b""
        async for chunk in self._stream:
            tail += chunk
            last = max(tail.rfind(end) for end in _EVENT_ENDS)
            size = size + len(chunk) if last < 0 else len(tail) - last
            if size > self._longest:
                self._note_length()
            tail = tail[-3:]
            yield chunk
