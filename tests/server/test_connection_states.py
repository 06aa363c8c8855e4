"""The states of a connection, in the table of `ConnectionTimer`: each is driven over its time limit by raw sockets, and
is left in time under a longer limit. Connections in all states make room for new ones.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from abstractcore_server import Grant, ServerLimits, Settings
from abstractcore_server import process as server_process
from tests.chaos_server import HANG, PATIENCE_SECONDS
from tests.server.accounts import Accounts
from tests.server.serving import Served, serving

SECONDS = 1.0
"""The limit that is crossed; what comes before takes milliseconds."""
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b'{"model": "nobody/model", "messages": [{"role": "user", "content": "hi"}]}'
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%%b\r\n" % len(BODY)
WEBSOCKET = (
    b"GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%b\r\n"
)
MESSAGE = b"\x81\x82\0\0\0\0{}"
ASK = json.dumps({"type": "response.create", "model": "openai-compatible/m", "input": "hi", "store": False}).encode()
FRAME = b"\x81\xfe" + len(ASK).to_bytes(2, "big") + b"\0\0\0\0" + ASK


@dataclass(frozen=True)
class Case:
    """`sent`, each after the answer to the one before, leads into a state; `end` leads out of it, to `answer`."""

    sent: tuple[bytes, ...]
    end: bytes | None = None
    answer: bytes = b"HTTP/1.1 200"
    closing: bytes = b""
    """What comes before the server closes the connection."""
    limits: Mapping[str, float] | None = None
    """The limits of the state; by default those of times to receive."""


QUICK = {"head_seconds": SECONDS, "body_seconds": SECONDS}
CASES: dict[str, Case] = {
    "HEAD: nothing": Case((b"",), GET),
    "HEAD: a part": Case((GET[:20],), GET[20:]),
    "HEAD: a part of a further one": Case((GET, GET[:20]), GET[20:]),
    "BODY": Case((POST % b"" + BODY[:9],), BODY[9:], b"HTTP/1.1 404", b"HTTP/1.1 408"),
    "BODY: with an offer": Case(
        (POST % b"Connection: Upgrade\r\nUpgrade: h2c\r\n" + BODY[:9],), BODY[9:], b"HTTP/1.1 404", b"HTTP/1.1 408"
    ),
    "REST": Case((GET[:-2] + b"Content-Length: 9\r\n\r\n", b"123"), b"456789" + GET),
    "IDLE": Case((GET,), GET),
    "IDLE: blank lines": Case((GET, b"\r\n"), GET),
    "HANDSHAKE": Case((WEBSOCKET % b"X-Wait: 1\r\n",)),
    "HANDSHAKE: with a body": Case((WEBSOCKET % b"Content-Length: 9\r\n",), closing=b"HTTP/1.1 426"),
    "HANDSHAKE: with an endless body": Case((WEBSOCKET % b"Transfer-Encoding: chunked\r\n",), closing=b"HTTP/1.1 426"),
    "OPEN: no pong": Case((WEBSOCKET % b"",), MESSAGE, b"\x81", b"\x89"),
    "MESSAGE": Case((WEBSOCKET % b"", MESSAGE[:4]), MESSAGE[4:], b"\x81"),
    "MESSAGE: in fragments": Case((WEBSOCKET % b"", b"\x01" + MESSAGE[1:]), b"\x80\x80\0\0\0\0", b"\x81"),
    "the call of a message": Case(
        (WEBSOCKET % b"", FRAME),
        closing=b'"status":408',
        # The time for a pong, which no client of these cases sends, is that of a head: the call ends long before.
        limits={"websocket_seconds": SECONDS, "call_seconds": SECONDS, "head_seconds": 4 * SECONDS},
    ),
    "CLOSING: no close frame": Case(
        (WEBSOCKET % b"",), closing=b"\x88", limits={"websocket_seconds": SECONDS, **QUICK}
    ),
}


class Waiting(Accounts):
    """Lets everyone in, but for requests that wait until the test has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.has_ended = threading.Event()

    async def admit(self, request: Any) -> Grant:
        """Returns a grant."""
        if "x-wait" in request.headers:
            await asyncio.to_thread(self.has_ended.wait)
        return await super().admit(request)


async def driven(served: Served, case: Case) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Returns a connection in the state."""
    host, port = served.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for number, piece in enumerate(case.sent):
        writer.write(piece)
        await writer.drain()
        if number < len(case.sent) - 1:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 101")), head
            if b"HTTP/1.1 200" in head:
                await reader.readuntil(b"}")
    return reader, writer


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


@contextmanager
def serving_with(
    monkeypatch: pytest.MonkeyPatch, idle: float, ping: float, limits: Mapping[str, float]
) -> Generator[Served]:
    monkeypatch.setattr(server_process, "IDLE_SECONDS", idle)
    monkeypatch.setattr(server_process, "PING_SECONDS", ping)
    chosen: Any = dict(limits)
    access = Waiting()
    with serving(Settings(limits=ServerLimits(**chosen)), access=access) as served:
        try:
            yield served
        finally:
            access.has_ended.set()


def groups() -> dict[tuple[tuple[str, float], ...], list[str]]:
    """The names of cases by their limits."""
    found: dict[tuple[tuple[str, float], ...], list[str]] = {}
    for name, case in CASES.items():
        found.setdefault(tuple((QUICK if case.limits is None else case.limits).items()), []).append(name)
    return found


def test_each_state_ends_after_its_time(monkeypatch: pytest.MonkeyPatch):
    async def run(served: Served, names: list[str]) -> None:
        async def drive(name: str) -> None:
            reader, writer = await driven(served, CASES[name])
            seen = await until_closed(reader)
            writer.close()
            assert CASES[name].closing in seen, (name, seen)
            walked.append(name)

        await asyncio.gather(*map(drive, names))

    walked: list[str] = []
    for limits, names in groups().items():
        with serving_with(monkeypatch, SECONDS, SECONDS / 10, dict(limits)) as served:
            if "the call of a message" in names:
                served.vendor.script(HANG)
            asyncio.run(run(served, names))
    assert len(walked) == len(CASES) == 16


def test_each_state_is_left_in_time(monkeypatch: pytest.MonkeyPatch):
    async def run(served: Served) -> None:
        for name, case in CASES.items():
            if case.end is None:
                continue
            reader, writer = await driven(served, case)
            if case.sent[-1].startswith(GET):
                await reader.readuntil(b"}")
            if case.sent[-1].startswith(WEBSOCKET[:20]):
                await reader.readuntil(b"\r\n\r\n")
            writer.write(case.end)
            async with asyncio.timeout(PATIENCE_SECONDS):
                seen = await reader.readexactly(len(case.answer))
            assert seen == case.answer, name
            writer.close()
            walked.append(name)

    walked: list[str] = []
    with serving_with(monkeypatch, PATIENCE_SECONDS, PATIENCE_SECONDS, {}) as served:
        asyncio.run(run(served))
    assert len(walked) == 11


CONNECTIONS = 4


@pytest.mark.parametrize("name", [name for name in CASES if name != "the call of a message"])
def test_connections_in_each_state_make_room_for_a_new_one(monkeypatch: pytest.MonkeyPatch, name: str):
    async def run(served: Served) -> bytes:
        held = [await driven(served, CASES[name]) for _ in range(CONNECTIONS)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection(*served.url.removeprefix("http://").split(":"))
            writer.write(GET)
            answer = await reader.readuntil(b"}")
        for _, each in (*held, (reader, writer)):
            each.close()
        return answer

    with serving_with(monkeypatch, PATIENCE_SECONDS, PATIENCE_SECONDS, {"connections": CONNECTIONS}) as served:
        assert asyncio.run(run(served)).startswith(b"HTTP/1.1 200")
