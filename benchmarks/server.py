"""A loopback server in a separate process, so that its work is not measured. It sends prepared bytes.

`/v1` streams chunks as networks split them, `/single` one event per chunk. Each is one chunk of HTTP's chunked
encoding, so that a client receives the same chunks however busy the machine is. A request with tools and without a
result of one is answered with a tool call.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import wire

_PLAIN_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_b1946ac92492d234\r\n"
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_b1946ac92492d234\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)


@contextmanager
def running() -> Iterator[str]:
    """Yields the server's URL while it runs in a child process, which exits when its stdin is closed."""
    child = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        child.stdin.close()


class Requests(asyncio.Protocol):
    """Reads requests with bodies; a subclass answers them."""

    _received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(rest) >= length:
            body, self._received = rest[:length], rest[length:]
            self.answer(head, body.replace(b" ", b""))

    def answer(self, head: bytes, tight: bytes) -> None:
        """Writes the answer to a request, whose body is given without spaces."""
        raise NotImplementedError


class _Answers(Requests):
    def __init__(self, plain: bytes, tool_call: bytes, embeddings: bytes, streams: dict[bytes, bytes]) -> None:
        self._plain = plain
        self._embeddings = embeddings
        self._tool_call = tool_call
        self._streams = streams

    def answer(self, head: bytes, tight: bytes) -> None:
        if b"/embeddings" in head:
            self.transport.write(self._embeddings)
        elif b'"stream":true' in tight:
            self.transport.write(self._streams[head.split(b"/", 2)[1]])
        else:
            calls_tool = b'"tools":' in tight and b'"role":"tool"' not in tight
            self.transport.write(self._tool_call if calls_tool else self._plain)


def _plain(body: bytes) -> bytes:
    return _PLAIN_HEAD + b"content-length: %d\r\n\r\n%b" % (len(body), body)


def _chunked(pieces: list[bytes]) -> bytes:
    return _STREAM_HEAD + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])


async def _serve() -> None:
    answers = _plain(wire.completion()), _plain(wire.tool_call()), _plain(wire.embeddings())
    streams = {b"v1": _chunked(wire.pieces()), b"single": _chunked(wire.events())}
    server = await asyncio.get_running_loop().create_server(lambda: _Answers(*answers, streams), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
