"""`ScriptedServer`: an HTTP/1.1 server on this machine that sends scripted bytes, and records requests and connections.

Builds HTTP/1.1 responses as bytes, valid or not, for scripts of a `ScriptedServer`.

Every request is answered by the next script: a sequence of bytes (see `http_bytes`) and of steps between them. Only
`Pause` sleeps, for scripts of a slow server.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

LAST_CHUNK = b"0\r\n\r\n"
"""The end of a chunked body."""


def answer(
    body: bytes | str | Mapping[str, Any] = b"",
    status: int = 200,
    *,
    content_type: str = "application/json",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """Returns a complete response; header names are written with underscores. `length` overrides Content-Length."""
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    rows = {"content_type": content_type, "content_length": str(len(data) if length is None else length), **headers}
    return head(status, rows) + data


def stream_head(**headers: str) -> bytes:
    """Returns the head of a chunked response."""
    return head(200, {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers})


def chunk(data: bytes) -> bytes:
    """Returns a chunk of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Returns the head of a response."""
    rows = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\n{rows}\r\n".encode("latin-1")


PATIENCE_SECONDS = 30.0
"""How long a test waits for an expected event."""

PROMPTLY_SECONDS = 5.0
"""The maximum time from the end of a call to the close of its connection."""


class ConnectionEnd(Enum):
    """How a script can end a connection."""

    CUT = "close it normally"
    RESET = "close it with a TCP reset"
    HANG = "send nothing until the client closes it"


CUT, RESET, HANG = ConnectionEnd.CUT, ConnectionEnd.RESET, ConnectionEnd.HANG


class Gate:
    """Blocks a script until the test calls `open`, once for each pass."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._passes = asyncio.Semaphore(0)
        self._reached = threading.Event()

    def open(self) -> None:
        """Lets one script pass once."""
        self._loop.call_soon_threadsafe(self._passes.release)

    def wait_until_reached(self) -> None:
        """Returns when a script waits here: everything before it has been sent."""
        _expect(self._reached.wait(PATIENCE_SECONDS), "a script's coming to its gate")

    async def wait(self) -> None:
        """Waits until the test calls `open`."""
        self._reached.set()
        await self._passes.acquire()


@dataclass(frozen=True)
class Pause:
    """A delay in a script, in seconds."""

    seconds: float


Step: TypeAlias = bytes | Gate | Pause | ConnectionEnd
_TLS_HANDSHAKE = b"\x16"


@dataclass
class AcceptedConnection:
    """One connection of a client; times are monotonic seconds."""

    number: int
    requests: int = 0
    closed_at: float | None = None
    """When the client closed it, or None."""
    ended: bool = False
    """Whether the server closed it."""


@dataclass
class ReceivedRequest:
    """One request as received."""

    connection: AcceptedConnection
    method: str
    target: str
    headers: dict[str, str]
    """By names in lower case. The values of a field that is repeated are joined with commas (RFC 9110, 5.3)."""
    body: bytes

    @property
    def json(self) -> Any:
        """Returns the body parsed as JSON."""
        return json.loads(self.body)


@dataclass
class _Line:
    """The state of a connection: its requests, and whether the client has closed it."""

    connection: AcceptedConnection
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: asyncio.Queue[ReceivedRequest | None] = field(default_factory=asyncio.Queue)


class ScriptedServer:
    """A server that runs in a thread during `with`; with TLS if a context is given."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.requests: list[ReceivedRequest] = []
        self.connections: list[AcceptedConnection] = []
        self.unscripted = 0
        self._scripts: list[tuple[Step, ...]] = []
        self._always: Callable[[ReceivedRequest], Sequence[Step]] | None = None
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="scripted server", daemon=True)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        _expect(self._ready.wait(PATIENCE_SECONDS), "the server's start")
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_SECONDS)
        _expect(not self._thread.is_alive(), "the server's end")

    @property
    def url(self) -> str:
        """The base URL of the server."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def script(self, *steps: Step) -> None:
        """Adds the script of a request: the first one of the next request without a script, and so on."""
        self._scripts.append(steps)

    def clear(self) -> None:
        """Forgets the requests so far, and the scripts that no request has taken."""
        self.requests.clear()
        self._scripts.clear()

    def always(self, *steps: Step) -> None:
        """Sets the script of every request without a script of its own."""
        self._always = lambda request: steps

    def always_by(self, script: Callable[[ReceivedRequest], Sequence[Step]]) -> None:
        """Sets a function that returns the script of every request without a script of its own."""
        self._always = script

    def gate(self) -> Gate:
        """Returns a new gate for a script."""
        return Gate(self._loop)

    @property
    def open(self) -> list[AcceptedConnection]:
        """The open connections."""
        return [each for each in self.connections if each.closed_at is None and not each.ended]

    def wait_for(self, condition: Callable[[], object], what: str = "the expected") -> None:
        """Waits until `condition` holds; raises `AssertionError` if it does not in `PATIENCE_SECONDS`."""
        with self._changed:
            _expect(self._changed.wait_for(condition, PATIENCE_SECONDS), what)

    def wait_for_requests(self, count: int) -> None:
        """Waits until so many requests have arrived."""
        self.wait_for(lambda: len(self.requests) >= count, f"request {count}")

    def assert_closed_promptly(self, since: float, number: int = 0) -> None:
        """Raises `AssertionError` unless the client closes the connection within `PROMPTLY_SECONDS` of `since`."""
        self.wait_for(lambda: len(self.connections) > number, f"connection {number}")
        connection = self.connections[number]
        self.wait_for(lambda: connection.closed_at is not None, f"the end of connection {number}")
        late = (connection.closed_at or since) - since
        _expect(
            late < PROMPTLY_SECONDS, f"the end of connection {number} within {PROMPTLY_SECONDS} s (but {late:.3f} s)"
        )

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._stopping = False
        self._lines: dict[asyncio.Task[None], _Line] = {}
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        self._stopping = True
        for listener in server.sockets:
            self._loop.remove_reader(listener.fileno())
        await asyncio.sleep(
            0
        )  # connections that were accepted in this iteration get their transport, which a closed server cannot make
        server.close()
        for line in self._lines.values():
            line.writer.transport.abort()
        await asyncio.gather(*self._lines)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Not a coroutine: the end of the server could come before its first step, and leave the transport open."""
        if self._stopping:
            writer.transport.abort()
            return
        connection = AcceptedConnection(len(self.connections))
        self._record(lambda: self.connections.append(connection))
        line = _Line(connection, reader, writer)
        task = asyncio.ensure_future(self._talk(line))
        self._lines[task] = line
        task.add_done_callback(self._lines.pop)

    async def _talk(self, line: _Line) -> None:
        listening = asyncio.ensure_future(self._listen(line))
        try:
            while request := await line.waiting.get():
                playing = asyncio.ensure_future(self._play(self._next_script(request), line))
                await asyncio.wait({playing, listening}, return_when=asyncio.FIRST_COMPLETED)
                if not playing.done():
                    playing.cancel()
                    await asyncio.gather(playing, return_exceptions=True)
                    break
                if not playing.result():
                    break
        finally:
            ours = line.connection.closed_at is None
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            line.writer.close()
            with suppress(OSError):
                await line.writer.wait_closed()
            self._record(lambda: setattr(line.connection, "ended", ours))

    async def _listen(self, line: _Line) -> None:
        """Reads continuously, to notice when the client closes the connection."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                start = await line.reader.readexactly(1)
                if start == _TLS_HANDSHAKE:
                    line.writer.close()
                    break
                head = (start + await line.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *rows = head.strip().split("\r\n")
                method, target, _ = first.split(" ")
                headers = _headers_of(rows)
                body = await line.reader.readexactly(int(headers.get("content-length", 0)))
                line.connection.requests += 1
                request = ReceivedRequest(line.connection, method, target, headers, body)
                self._record(lambda request=request: self.requests.append(request))
                line.waiting.put_nowait(request)
        now = time.monotonic()
        self._record(lambda: setattr(line.connection, "closed_at", now))
        line.waiting.put_nowait(None)

    def _next_script(self, request: ReceivedRequest) -> Sequence[Step]:
        if self._scripts:
            return self._scripts.pop(0)
        if self._always is not None:
            return self._always(request)
        self.unscripted += 1
        return (answer(f"no script for request {len(self.requests)}: {request.target}", 500),)

    async def _play(self, script: Sequence[Step], line: _Line) -> bool:
        """Plays a script; returns whether the connection stays open."""
        with suppress(OSError):
            for step in script:
                if isinstance(step, bytes):
                    line.writer.write(step)
                    await line.writer.drain()
                elif isinstance(step, Gate):
                    await step.wait()
                elif isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                elif step is HANG:
                    await asyncio.Event().wait()
                elif step is RESET:
                    linger = struct.pack("ii", 1, 0)
                    line.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return False
                else:
                    return False
            return True
        return False

    def _record(self, change: Callable[[], object]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()


def drip(data: bytes, between: Step) -> list[Step]:
    """Returns `data` one byte at a time, with the step `between` before each."""
    return [step for byte in data for step in (between, bytes([byte]))]


def _headers_of(rows: Iterable[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for row in rows:
        name, value = row.split(": ", 1)
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _expect(happened: object, what: str) -> None:
    if not happened:
        raise AssertionError(f"{what} did not happen")
