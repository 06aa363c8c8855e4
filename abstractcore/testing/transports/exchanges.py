"""Tests of successful exchanges, and of servers that stall at each step or send data slowly."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

from ...errors import RequestTimeoutError
from ..http_server import CUT, LAST_CHUNK, PATIENCE_SECONDS, Pause, answer, chunk, drip, head, stream_head
from .cases import TransportCase, expect, rest, same

_UNPACKED = b"0123456789" * 1000


class ExchangeTests(TransportCase):
    """Requests are sent unchanged, and responses are complete."""

    def test_request_is_sent_unchanged(self) -> None:
        """The path is not percent-encoded again."""
        self.server.script(answer("ok"))
        self.answer(body=b"\x00\xff", path="/a%2Fb/c%3A1?q=%20x&r=y", headers={"x-mine": "a b"})
        (request,) = self.server.requests
        same((request.method, request.target), ("POST", "/a%2Fb/c%3A1?q=%20x&r=y"))
        same(request.body, b"\x00\xff")
        same(request.headers["x-mine"], "a b")
        same(request.headers["content-length"], "2")
        same(request.headers["host"], f"127.0.0.1:{self.server.port}")

    def test_large_request_is_sent_completely(self) -> None:
        """Three million bytes."""
        self.server.script(answer("ok"))
        self.answer(body=b"x" * 3_000_000)
        same(len(self.server.requests[0].body), 3_000_000)

    def test_accept_encoding_lists_only_supported_encodings(self) -> None:
        """Two encodings, whatever else is installed."""
        self.server.script(answer("ok"))
        self.answer()
        same(self.server.requests[0].headers["accept-encoding"], "gzip, deflate")

    def test_response_has_status_headers_and_body(self) -> None:
        """Names of headers in lower case, a repeated one's values joined; bytes beyond ASCII are Latin-1."""
        self.server.script(b"HTTP/1.1 418 Tea\r\nX-Two: a\r\nx-two: b\r\nX-Word: \xe9\r\ncontent-length: 3\r\n\r\nabc")
        response = self.answer()
        same((response.status, response.body), (418, b"abc"))
        same((response.headers["x-two"], response.headers["x-word"]), ("a, b", "\xe9"))

    def test_chunk_can_be_read_before_the_next_is_sent(self) -> None:
        """Nothing waits for more."""
        gate = self.server.gate()
        self.server.script(stream_head(), chunk(b"first"), gate, chunk(b"second"), LAST_CHUNK)

        async def read() -> tuple[bytes, bytes, bytes]:
            body = await self.open()
            first = await body.read()
            gate.open()
            second, end = await rest(body), await body.read()
            await body.close()
            return first, second, end

        same(self.run(read()), (b"first", b"second", b""))

    def test_dripping_response_is_read_completely(self) -> None:
        """A byte at a time, head and body."""
        whole = stream_head() + chunk(b"abc") + LAST_CHUNK
        self.server.script(*drip(whole, Pause(0)))
        same(self.answer().body, b"abc")

    def test_body_may_end_with_its_connection(self) -> None:
        """Without a length or chunks."""
        self.server.script(b"HTTP/1.1 200 OK\r\n\r\nto the end", CUT)
        same(self.answer().body, b"to the end")

    def test_response_without_a_body_ends_at_once(self) -> None:
        """204, and a length of zero."""
        for empty in (b"HTTP/1.1 204 No Content\r\n\r\n", answer(b"")):
            self.server.script(empty)
            same(self.answer().body, b"")
        same(len(self.server.connections), 1)

    def test_interim_responses_are_skipped(self) -> None:
        """100 and 103 come before the answer."""
        self.server.script(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + answer("final"))
        same(self.answer().body, b"final")

    def test_large_response_heads_are_accepted(self) -> None:
        """60 KB in one field, and 100 fields."""
        self.server.script(answer("ok", x_long="v" * 60_000))
        same(len(self.answer().headers["x-long"]), 60_000)
        self.server.script(
            head(200, {"content_length": "2", **{f"x_{number}": "v" * 100 for number in range(100)}}) + b"ok"
        )
        same(self.answer().headers["x-99"], "v" * 100)

    def test_large_body_is_read_completely(self) -> None:
        """Eight million bytes."""
        self.server.script(answer(b"y" * 8_000_000))
        same(len(self.answer().body), 8_000_000)

    def test_compressed_bodies_are_decompressed_at_any_split(self) -> None:
        """gzip, of one member and of several (RFC 1952), and deflate; whole and in chunks of seven bytes."""
        deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        raw = deflate.compress(_UNPACKED) + deflate.flush()
        members = gzip.compress(_UNPACKED[:500]) + gzip.compress(b"") + gzip.compress(_UNPACKED[500:])
        packed = [
            ("gzip", gzip.compress(_UNPACKED)),
            ("gzip", members),
            ("gzip", members + bytes(10)),
            ("deflate", zlib.compress(_UNPACKED)),
            ("deflate", raw),
        ]
        for encoding, data in packed:
            self.server.script(answer(data, content_encoding=encoding))
            same(self.answer().body, _UNPACKED)
            chunks = b"".join(chunk(data[offset : offset + 7]) for offset in range(0, len(data), 7))
            self.server.script(stream_head(content_encoding=encoding), chunks, LAST_CHUNK)
            same(self.answer().body, _UNPACKED)


_TIMEOUT_SECONDS = 0.3
_ANSWER_SECONDS = 1.5
"""The timeout of calls that are answered, also by a busy machine."""
_BETWEEN_SECONDS = 0.05
"""The delay between two bytes: every single wait ends long before the timeout."""
_LONG_HEAD = stream_head(x_long="v" * 1000)
_LONG_BODY = b"x" * 64_000_000
"""More than the buffers of both sides hold."""


class StallTests(TransportCase):
    """`timeout` is the total for connecting, sending and reading the head."""

    def test_dripping_response_head_times_out(self) -> None:
        """It would take a minute."""
        self.server.script(*drip(_LONG_HEAD, Pause(_BETWEEN_SECONDS)))
        self._late()

    def test_connection_that_is_not_accepted_times_out(self) -> None:
        """Its address is right, and no server answers there."""
        with _listener(backlog=0) as address:
            self._late(url=f"http://{address}")

    def test_unanswered_tls_handshake_times_out(self) -> None:
        """The connection is there, and says nothing."""
        with _listener(backlog=8) as address:
            self._late(url=f"https://{address}")

    def test_request_that_is_not_read_times_out(self) -> None:
        """The buffers are full before all of it is sent."""
        with _listener(backlog=8) as address:
            self._late(url=f"http://{address}", body=_LONG_BODY)

    def test_timeout_of_one_call_does_not_end_the_next(self) -> None:
        """They share a connection, and the first call's time passes during the second."""
        self.server.script(answer("one"))
        self.server.script(Pause(_ANSWER_SECONDS), stream_head() + chunk(b"t"), Pause(_ANSWER_SECONDS), chunk(b"wo"))
        self.server.script(answer("three"))
        same(self.answer(_ANSWER_SECONDS).body, b"one")

        async def read() -> bytes:
            body = await self.open()
            try:
                return await body.read() + await body.read()
            finally:
                await body.close()

        same(self.run(read()), b"two")
        same([request.connection.number for request in self.server.requests], [0, 0])
        same(self.answer().body, b"three")

    def test_idle_connection_is_reused_after_a_call_with_little_time_left(self) -> None:
        """What bounds one call is gone with it."""
        self.server.script(stream_head() + chunk(b"one"), Pause(_ANSWER_SECONDS / 2), LAST_CHUNK)
        self.server.script(Pause(_ANSWER_SECONDS * 2), answer("two"))
        same(self.answer(_ANSWER_SECONDS).body, b"one")
        same(self.answer().body, b"two")
        same(len(self.server.connections), 1)

    def _late(self, **request: Any) -> None:
        start = time.monotonic()
        self.failure(RequestTimeoutError, timeout=_TIMEOUT_SECONDS, **request)
        waited = time.monotonic() - start
        # Wide, for a busy machine: without a limit each of them takes much longer.
        expect(_TIMEOUT_SECONDS * 0.9 < waited < PATIENCE_SECONDS, f"{waited:.2f} s passed")


@contextmanager
def _listener(backlog: int) -> Generator[str]:
    """Yields the URL of a server that never answers. With a backlog of 0 it accepts no connection."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=backlog))
        port = listener.getsockname()[1]
        for _ in range(0 if backlog else 2):
            other = stack.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(("127.0.0.1", port))
        yield f"127.0.0.1:{port}"
