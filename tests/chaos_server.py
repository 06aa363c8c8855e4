"""An HTTP/1.1 server on this machine that misbehaves as told, byte by byte, and records what its clients do.

Every request takes the next script: a sequence of bytes to send and of steps in between. Nothing here sleeps, but for
`Pause`, with which a script plays a slow server.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

PATIENCE_SECONDS = 10.0
"""How long a test waits for something that must happen."""

PROMPTLY_SECONDS = 0.1
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

    def open(self) -> None:
        """Let one script pass once."""
        self._loop.call_soon_threadsafe(self._passes.release)

    async def wait(self) -> None:
        await self._passes.acquire()


@dataclass(frozen=True)
class Pause:
    """A server that takes its time."""

    seconds: float


_TLS_HANDSHAKE = b"\x16"
Step = bytes | Gate | Pause | End


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
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class _Line:
    """A connection's inside: requests that came, and whether the client has gone."""

    connection: Connection
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: asyncio.Queue[Request | None] = field(default_factory=asyncio.Queue)


class ChaosServer:
    """Runs in a thread from `with` to the end of it."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections: list[Connection] = []
        self.unscripted = 0
        self._scripts: list[tuple[Step, ...]] = []
        self._always: Callable[[Request], Sequence[Step]] | None = None
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chaos server", daemon=True)

    def __enter__(self) -> ChaosServer:
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

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
            assert self._changed.wait_for(condition, PATIENCE_SECONDS), f"{what} did not happen"

    def wait_for_requests(self, count: int) -> None:
        """Return once so many requests have come."""
        self.wait_for(lambda: len(self.requests) >= count, f"request {count}")

    def assert_closed_promptly(self, since: float, number: int = 0) -> None:
        """Fail unless the client closes the connection, and does so promptly after `since` (monotonic)."""
        connection = self.connections[number]
        self.wait_for(lambda: connection.closed_at is not None, f"the end of connection {number}")
        assert connection.closed_at is not None
        assert connection.closed_at - since < PROMPTLY_SECONDS

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._lines: dict[asyncio.Task[None], _Line] = {}
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for line in self._lines.values():
            line.writer.transport.abort()
        await asyncio.gather(*self._lines)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
                headers = {name.lower(): value for name, value in (row.split(": ", 1) for row in rows)}
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
        return (failure(500, f"no script for request {len(self.requests)}: {request.target}"),)

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


def answer(
    body: bytes | str | dict[str, Any] = b"",
    status: int = 200,
    *,
    content_type: str = "application/json",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """A whole response; header names are written with underscores. `length` may lie about the body's."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    rows = {"content_type": content_type, "content_length": str(len(data) if length is None else length), **headers}
    return _head(status, rows) + data


def completion(text: str = "hello", finish_reason: str = "stop", *, headers: dict[str, str] | None = None) -> bytes:
    """A whole chat completion."""
    return answer(completion_body(text, finish_reason), **(headers or {}))


def completion_body(text: str = "hello", finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion without HTTP around it."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def failure(status: int, message: str = "no", *, error: dict[str, Any] | None = None, **headers: str) -> bytes:
    """An error as this wire format has it."""
    return answer({"error": {"message": message, **(error or {})}}, status, **headers)


def stream_head(**headers: str) -> bytes:
    """The beginning of a streamed response, whose pieces follow as chunks."""
    return _head(200, {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers})


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def event(data: dict[str, Any] | bytes) -> bytes:
    """A server-sent event."""
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def delta(text: str | None = None, finish_reason: str | None = None, **rest: Any) -> bytes:
    """The event of a piece of an answer's text."""
    content = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": content, "finish_reason": finish_reason}
    return event({"id": "chat-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **rest})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})


def streamed(*texts: str) -> bytes:
    """A whole streamed answer, a chunk an event."""
    events = [*(delta(text) for text in texts), delta(finish_reason="stop"), USAGE, DONE]
    return stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK


def drip(data: bytes, between: Step) -> list[Step]:
    """`data` a byte at a time, with the step `between` before each."""
    return [step for byte in data for step in (between, bytes([byte]))]


def _head(status: int, headers: dict[str, str]) -> bytes:
    rows = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\n{rows}\r\n".encode("latin-1")
