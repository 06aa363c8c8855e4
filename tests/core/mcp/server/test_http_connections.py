"""Limits of HTTP connections: their number, and the time for a request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from abstractcore.mcp.server.http import CompleteRequests, limited_connections

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG_SECONDS = 600.0
SECONDS: Any = 1.0  # of a connection that is kept; uvicorn's type is a whole number
LARGE = 50_000_000
PATIENCE_SECONDS = 60.0
OK = PlainTextResponse("ok")


class Connections(set[Any]):
    """The open connections of a server."""

    def __init__(self) -> None:
        super().__init__()
        self.one_ended = asyncio.Event()

    def discard(self, element: Any) -> None:
        super().discard(element)
        self.one_ended.set()


@asynccontextmanager
async def listening(
    most: int, seconds: float, app: Any = OK, connections: Connections | None = None
) -> AsyncIterator[int]:
    """Yields the port of a server of `app`."""
    http = limited_connections(most, seconds)
    config = uvicorn.Config(app, http=http, ws="none", lifespan="off", log_config=None, timeout_keep_alive=SECONDS)
    config.load()
    protocol: Any = config.http_protocol_class
    loop, state = asyncio.get_running_loop(), ServerState()
    state.connections = Connections() if connections is None else connections
    server = await loop.create_server(lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for each in list(state.connections):
            each.transport.abort()


async def opened(port: int, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def received(reader: asyncio.StreamReader) -> bytes:
    """What comes before the connection is closed."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("sent", [b"", REQUEST[:20]])
def test_connection_without_a_request_is_closed(sent: bytes):
    async def run() -> bytes:
        async with listening(10, 0.05) as port:
            reader, writer = await opened(port, sent)
            try:
                return await received(reader)
            finally:
                writer.close()

    assert asyncio.run(run()) == b""


def test_connection_too_many_closes_the_one_that_has_waited_longest():
    async def run() -> bytes:
        async with listening(2, LONG_SECONDS) as port:
            first, first_writer = await opened(port, REQUEST[:20])
            _, second_writer = await opened(port)
            third, third_writer = await opened(port)
            assert await received(first) == b""
            third_writer.write(REQUEST)
            answer = await third.readuntil(b"ok")
            for each in (first_writer, second_writer, third_writer):
                each.close()
            return answer

    assert asyncio.run(run()).startswith(b"HTTP/1.1 200 OK")


GET_WITH_BODY = REQUEST[:-2] + b"Content-Length: 9\r\n"
STATES = {
    "HEAD: nothing": (b"",),
    "HEAD: a part": (REQUEST[:20],),
    "HEAD: a part of a further one": (REQUEST, REQUEST[:20]),
    "REST": (GET_WITH_BODY + b"\r\n", b"123"),
    "REST: with an offer": (GET_WITH_BODY + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", b"123"),
    "IDLE": (REQUEST,),
}


async def driven(port: int, pieces: Sequence[bytes]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection in the state that the pieces lead to, each sent after the answer to the one before."""
    reader, writer = await opened(port)
    for piece in pieces:
        writer.write(piece)
        if piece is not pieces[-1]:
            await reader.readuntil(b"ok")
    return reader, writer


def test_each_state_ends_after_its_time():
    async def drive(port: int, name: str) -> None:
        reader, writer = await driven(port, STATES[name])
        async with asyncio.timeout(PATIENCE_SECONDS):
            seen = await received(reader)
        writer.close()
        assert seen.count(b"HTTP/1.1") == (name == "IDLE"), (name, seen)
        walked.append(name)

    async def run() -> None:
        async with listening(10, SECONDS) as port:
            await asyncio.gather(*(drive(port, name) for name in STATES))

    walked: list[str] = []
    asyncio.run(run())
    assert len(walked) == 6


@pytest.mark.parametrize("name", STATES)
def test_connections_in_each_state_make_room(name: str):
    async def run() -> bytes:
        async with listening(2, LONG_SECONDS) as port:
            held = [await driven(port, STATES[name]) for _ in range(2)]
            reader, writer = await opened(port, REQUEST)
            answer = await reader.readuntil(b"ok")
            for _, each in (*held, (reader, writer)):
                each.close()
            return answer

    assert asyncio.run(run()).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("offer", [b"websocket", b"h2c"])
@pytest.mark.parametrize("hidden", [REQUEST, b"x"])
def test_request_that_offers_another_protocol_keeps_its_body(offer: bytes, hidden: bytes):
    """RFC 9110, 7.8: the offer is ignored."""
    bodies: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        bodies.append((await receive())["body"])
        await OK(scope, receive, send)

    async def run() -> None:
        async with listening(2, LONG_SECONDS, CompleteRequests(app, 100, LONG_SECONDS)) as port:
            head = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %b\r\n"
            reader, writer = await opened(port, head % offer + b"Content-Length: %d\r\n\r\n" % len(hidden))
            for at in range(0, len(hidden), 5):
                writer.write(hidden[at : at + 5])
                await writer.drain()
            writer.write(REQUEST)
            for _ in range(2):
                await reader.readuntil(b"ok")
            writer.close()

    asyncio.run(run())
    assert bodies == [hidden, b""]


def test_answer_that_is_not_read_is_dropped():
    async def run() -> None:
        connections = Connections()
        async with listening(10, 0.05, PlainTextResponse("x" * LARGE), connections) as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(REQUEST)
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await connections.one_ended.wait()

    asyncio.run(run())


class Exchange:
    """One request to `CompleteRequests`, whose body comes in these pieces; None means that the client has gone."""

    def __init__(self, pieces: Sequence[bytes | None], *headers: tuple[bytes, bytes], seconds: float = LONG_SECONDS):
        self.pieces = list(pieces)
        self.scope = {"type": "http", "method": "POST", "path": "/", "headers": list(headers)}
        self.seen: list[bytes] = []
        self.status: int | None = None
        asyncio.run(CompleteRequests(self._app, 10, seconds)(self.scope, self._receive, self._send))

    async def _receive(self) -> Any:
        if not self.pieces:
            await asyncio.Event().wait()
        piece = self.pieces.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": not piece.endswith(b".")}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append((await receive())["body"])
        await PlainTextResponse("ok")(scope, receive, send)


def test_complete_body_is_passed_on_whole():
    exchange = Exchange([b"abc", b"de."])
    assert (exchange.seen, exchange.status) == ([b"abcde."], 200)


@pytest.mark.parametrize(
    ("pieces", "headers", "status"),
    [
        ([b"abc"], [], 408),
        ([], [], 408),
        ([b"0123456789", b"0"], [], 413),
        ([], [(b"content-length", b"11")], 413),
        ([b"abc", None], [], None),
    ],
)
def test_incomplete_or_long_body_is_not_passed_on(pieces: list[bytes | None], headers: Any, status: int | None):
    exchange = Exchange(pieces, *headers, seconds=0.05 if status == 408 else LONG_SECONDS)
    assert (exchange.seen, exchange.status) == ([], status)
