"""Limits of HTTP connections: their number, the size and the time of a request's head, readers that do not read, and
requests that two programs read differently."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from abstractcore_server import ServerLimits, Settings
from abstractcore_server.connections import limited_connections
from tests.chaos_server import PATIENCE_SECONDS
from tests.server.serving import Served, serving

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
QUICK = 0.05
LARGE = 50_000_000


class Connections(set[Any]):
    """The open connections of a server."""

    def __init__(self) -> None:
        super().__init__()
        self.one_ended = asyncio.Event()

    def discard(self, element: Any) -> None:
        super().discard(element)
        self.one_ended.set()


def answering(size: int = 2) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        length = (b"content-length", str(size).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": b"x" * size})

    return app


@asynccontextmanager
async def listening(
    limits: ServerLimits, app: Any = None, connections: Connections | None = None
) -> AsyncGenerator[int]:
    """Yields the port of a server."""
    config = uvicorn.Config(app or answering(), http=limited_connections(limits), lifespan="off", log_config=None)
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
    async with asyncio.timeout(PATIENCE_SECONDS):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize("sent", [b"", REQUEST[:20]])
def test_connection_without_a_request_is_closed(sent: bytes):
    async def run() -> bytes:
        async with listening(ServerLimits(head_seconds=QUICK)) as port:
            reader, writer = await opened(port, sent)
            try:
                return await received(reader)
            finally:
                writer.close()

    assert asyncio.run(run()) == b""


def test_connection_too_many_closes_the_one_that_has_waited_longest():
    async def run() -> bytes:
        async with listening(ServerLimits(connections=2)) as port:
            first, first_writer = await opened(port, REQUEST[:20])
            _, second_writer = await opened(port)
            third, third_writer = await opened(port)
            assert await received(first) == b""
            third_writer.write(REQUEST)
            answer = await third.readuntil(b"xx")
            for each in (first_writer, second_writer, third_writer):
                each.close()
            return answer

    assert asyncio.run(run()).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "head", [b"x-long: " + b"a" * 5000, b"\r\n".join(b"x-%d: a" % number for number in range(1000))]
)
@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_head_that_is_too_large_is_refused(head: bytes, end: bytes):
    async def run() -> bytes:
        async with listening(ServerLimits(head_bytes=4000)) as port:
            reader, writer = await opened(port, REQUEST[:-2])
            writer.write(head + end)
            try:
                return await received(reader)
            finally:
                writer.close()

    assert asyncio.run(run()).startswith(b"HTTP/1.1 431 ")


def test_one_connection_may_send_more_than_the_limit_in_all():
    async def run() -> None:
        async with listening(ServerLimits(head_bytes=4 * len(REQUEST))) as port:
            reader, writer = await opened(port)
            for _ in range(20):
                writer.write(REQUEST)
                assert await reader.readuntil(b"xx")
            writer.close()

    asyncio.run(run())


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n", b"Content-Length: 9\r\n"])
@pytest.mark.parametrize("after", [b"", REQUEST, REQUEST[:20]])
def test_answer_that_is_not_read_is_dropped(more: bytes, after: bytes):
    async def run() -> None:
        connections = Connections()
        async with listening(
            ServerLimits(head_seconds=QUICK, body_seconds=QUICK), answering(LARGE), connections
        ) as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(REQUEST[:-2] + more + b"\r\n" + after)
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await connections.one_ended.wait()

    asyncio.run(run())


SMUGGLED = [
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd",
    b"GET / HTTP/1.1\r\nHost: x\r\nx: a\x00b\r\n\r\n",
    b"GET / HTTP/1.1\nHost: x\n\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /\r\n\r\n",
    b" GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nx: a\r\n folded\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nx: a\rContent-Length: 4\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    *(
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: %b\r\n\r\n0\r\n\r\n" % coding
        for coding in (b"identity, chunked", b"chunked, identity", b"chunked\r\nTransfer-Encoding: chunked")
    ),
    *(
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %b\r\n\r\nabcd" % length
        for length in (b"-1", b"0x4", b"4, 4", b"4 4", b"9" * 30)
    ),
    *(
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%b\r\nabc\r\n0\r\n\r\n" % size
        for size in (b"zz", b"-1", b"0x3", b"3 ", b"f" * 17, b"2")
    ),
]


@pytest.mark.parametrize("request_bytes", SMUGGLED)
def test_ambiguous_requests_are_refused(request_bytes: bytes):
    async def run() -> bytes:
        async with listening(ServerLimits(head_seconds=1)) as port:
            reader, writer = await opened(port, request_bytes)
            try:
                return await received(reader)
            finally:
                writer.close()

    assert asyncio.run(run()).startswith(b"HTTP/1.1 400 ")


def test_request_inside_a_body_is_none():
    hidden = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    paths: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        await answering()(scope, receive, send)

    async def run() -> None:
        async with listening(ServerLimits(), app) as port:
            reader, writer = await opened(port)
            head = b"GET /%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
            for number in range(2):
                writer.write(head % (number, len(hidden)) + hidden)
                await reader.readuntil(b"xx")
            writer.close()

    asyncio.run(run())
    assert paths == ["/0", "/1"]


def test_invalid_request_behind_one_that_is_being_answered_ends_the_connection():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"xx", "more_body": True})
        await receive()
        await receive()  # until the client has left

    async def run() -> bytes:
        async with listening(ServerLimits(), app) as port:
            reader, writer = await opened(port, REQUEST)
            seen = await reader.readuntil(b"xx")
            writer.write(b"nonsense\r\n\r\n")
            seen += await received(reader)
            writer.close()
            return seen

    answer = asyncio.run(run())
    assert answer.endswith(b"xx")
    assert b"400" not in answer


BODY = b'{"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}'


def _post(length: int, sent: bytes) -> bytes:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % length + sent


def test_body_that_comes_too_slowly_is_refused():
    with serving(Settings(limits=ServerLimits(body_seconds=QUICK))) as served:
        answer = _exchanged(served, _post(len(BODY), BODY[:9]))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"error"' in answer


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving() as served:
        yield served


def test_client_that_ends_its_side_within_a_body_causes_no_call(served: Served):
    assert _exchanged(served, _post(len(BODY), BODY[:9]), half_closed=True) == b""
    served.script("still here")
    assert b"still here" in _exchanged(served, _post(len(BODY), BODY))
    assert len(served.calls) == 1


def _exchanged(served: Served, sent: bytes, *, half_closed: bool = False) -> bytes:
    """Sends a request; returns the response, or what comes until the server ends the connection."""
    port = int(served.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as client:
        client.sendall(sent)
        if half_closed:
            client.shutdown(socket.SHUT_WR)
        seen = b""
        while piece := client.recv(65536):
            seen += piece
            head, end, body = seen.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            if end and length is not None and len(body) >= int(length[1]):
                break
        return seen
