"""An HTTP/1.1 server on this machine that misbehaves as told, byte by byte, and records what its clients do.

Every request takes the next script: a sequence of bytes to send (see `http_bytes`) and of steps in between. Nothing
here sleeps, but for `Pause`, with which a script plays a slow server.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from .http_bytes import answer

PATIENCE_SECONDS = 30.0
"""How long a test waits for something that must happen."""

PROMPTLY_SECONDS = 5.0
"""How soon after the end of a call its connection must be closed."""


class End(Enum):
    """How a script can end a connection."""

    CUT = "close it in order"
    RESET = "close it with a TCP reset"
    HANG = "say nothing until the client closes it"


CUT, RESET, HANG = End.CUT, End.RESET, End.HANG


class Gate:
    """Holds a script until the test lets it pass, once for each `open`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._passes = asyncio.Semaphore(0)
        self._reached = threading.Event()

    def open(self) -> None:
        """Let one script pass once."""
        self._loop.call_soon_threadsafe(self._passes.release)

    def wait_until_reached(self) -> None:
        """Return once a script waits here: what it sent before is on its way."""
        _expect(self._reached.wait(PATIENCE_SECONDS), "a script's coming to its gate")

    async def wait(self) -> None:
        """Wait to be let pass."""
        self._reached.set()
        await self._passes.acquire()


@dataclass(frozen=True)
class Pause:
    """A server that takes its time."""

    seconds: float


Step: TypeAlias = bytes | Gate | Pause | End
_TLS_HANDSHAKE = b"\x16"


@dataclass
class Connection:
    """One connection of a client; times are of the monotonic clock."""

    number: int
    requests: int = 0
    closed_at: float | None = None
    """When the client closed it, if it did."""
    ended: bool = False
    """Whether the server closed it."""


@dataclass
class Request:
    """One request as it came."""

    connection: Connection
    method: str
    target: str
    headers: dict[str, str]
    """By names in lower case. The values of a field that is repeated are joined with commas (RFC 9110, 5.3)."""
    body: bytes

    @property
    def json(self) -> Any:
        """The body as data."""
        return json.loads(self.body)


@dataclass
class _Line:
    """A connection's inside: requests that came, and whether the client has gone."""

    connection: Connection
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: asyncio.Queue[Request | None] = field(default_factory=asyncio.Queue)


class ScriptedServer:
    """Runs in a thread from `with` to the end of it; over TLS if it is given a context."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.requests: list[Request] = []
        self.connections: list[Connection] = []
        self.unscripted = 0
        self._scripts: list[tuple[Step, ...]] = []
        self._always: Callable[[Request], Sequence[Step]] | None = None
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scripted server", daemon=True)

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
        """Its address."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def script(self, *steps: Step) -> None:
        """What the next request that has none yet gets."""
        self._scripts.append(steps)

    def always(self, *steps: Step) -> None:
        """What every request without a script of its own gets."""
        self._always = lambda request: steps

    def always_by(self, script: Callable[[Request], Sequence[Step]]) -> None:
        """As `always`, with a script made for the request."""
        self._always = script

    def gate(self) -> Gate:
        """A gate to put into a script."""
        return Gate(self._loop)

    @property
    def open(self) -> list[Connection]:
        """The connections that neither side has closed."""
        return [each for each in self.connections if each.closed_at is None and not each.ended]

    def wait_for(self, condition: Callable[[], object], what: str = "the expected") -> None:
        """Return once `condition` holds; fail if it does not in good time."""
        with self._changed:
            _expect(self._changed.wait_for(condition, PATIENCE_SECONDS), what)

    def wait_for_requests(self, count: int) -> None:
        """Return once so many requests have come."""
        self.wait_for(lambda: len(self.requests) >= count, f"request {count}")

    def assert_closed_promptly(self, since: float, number: int = 0) -> None:
        """Fail unless the client closes the connection, and does so promptly after `since` (monotonic)."""
        connection = self.connections[number]
        self.wait_for(lambda: connection.closed_at is not None, f"the end of connection {number}")
        late = (connection.closed_at or since) - since
        _expect(
            late < PROMPTLY_SECONDS, f"the end of connection {number} within {PROMPTLY_SECONDS} s (but {late:.3f} s)"
        )

    def _run(self) -> None:
        asyncio.run(self._serve())

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
        await asyncio.sleep(0)  # what was accepted in this turn gets its transport, which a closed server cannot give
        server.close()
        for line in self._lines.values():
            line.writer.transport.abort()
        await asyncio.gather(*self._lines)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Not a coroutine: the end of the server could come before its first step, and leave the transport open."""
        if self._stopping:
            writer.transport.abort()
            return
        connection = Connection(len(self.connections))
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
        """Reads all the time, so that the moment a client goes is known."""
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
                request = Request(line.connection, method, target, headers, body)
                self._record(lambda request=request: self.requests.append(request))
                line.waiting.put_nowait(request)
        now = time.monotonic()
        self._record(lambda: setattr(line.connection, "closed_at", now))
        line.waiting.put_nowait(None)

    def _next_script(self, request: Request) -> Sequence[Step]:
        if self._scripts:
            return self._scripts.pop(0)
        if self._always is not None:
            return self._always(request)
        self.unscripted += 1
        return (answer(f"no script for request {len(self.requests)}: {request.target}", 500),)

    async def _play(self, script: Sequence[Step], line: _Line) -> bool:
        """Whether the connection lives on after the script."""
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
    """`data` a byte at a time, with the step `between` before each."""
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
