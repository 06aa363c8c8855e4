"""Tests of failures: the class of the error, its timing, and that it does not contain the key."""

from __future__ import annotations

import gzip
import threading
import time

from ...errors import ConfigurationError, ConnectionFailedError, RequestTimeoutError, ServerError
from ..http_server import (
    CUT,
    HANG,
    LAST_CHUNK,
    PROMPTLY_SECONDS,
    RESET,
    ScriptedServer,
    Step,
    answer,
    chunk,
    stream_head,
)
from .cases import KEY, TransportCase, expect, rest, same

_SOON_SECONDS = 0.2
_UNEXPECTED = ("gzip, gzip", "br", "zstd", "gzip, identity")


class FailureTests(TransportCase):
    """Each failure has the error of its cause; `failure` also checks for the key."""

    def test_truncated_response_is_a_connection_failure(self) -> None:
        """Before the head, in it, and in bodies of each kind."""
        scripts: list[list[Step]] = [
            [CUT],
            [RESET],
            [b"HTTP/1.1 200 OK\r\ncontent-le", CUT],
            [answer("half", length=8), CUT],
            [answer("half", length=8), RESET],
            [stream_head(), chunk(b"half"), CUT],
            [stream_head(), b"8\r\nhalf", RESET],
        ]
        for script in scripts:
            self.server.script(*script)
            self.failure(ConnectionFailedError)

    def test_response_that_is_not_http_is_a_connection_failure(self) -> None:
        """In the head and in the framing of a body."""
        heads = [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nset cookie: x\r\n\r\n", b"\x16\x03\x01\x00\xff" * 20]
        for garbage in [*heads, stream_head() + b"zz\r\nbody"]:
            self.server.script(garbage, CUT)
            self.failure(ConnectionFailedError)

    def test_data_received_before_a_disconnect_can_be_read(self) -> None:
        """The caller may be slower than the network."""
        gate = self.server.gate()
        self.server.script(stream_head(), chunk(b"first"), gate, chunk(b"second"), CUT)

        async def read() -> bytes:
            body = await self.open()
            first = await body.read()
            gate.open()
            self.server.wait_for(lambda: not self.server.open, "the server's end")
            await self.settle()
            try:
                second = await body.read()
                return first + second
            finally:
                await body.close()

        same(self.run(read()), b"firstsecond")

    def test_missing_response_is_a_timeout(self) -> None:
        """In the head and in the body."""
        scripts: list[list[Step]] = [
            [HANG],
            [b"HTTP/1.1 200", HANG],
            [stream_head(), HANG],
            [answer("", length=9), HANG],
        ]
        for script in scripts:
            self.server.script(*script)
            start = time.monotonic()
            self.failure(RequestTimeoutError, timeout=_SOON_SECONDS)
            waited = time.monotonic() - start
            expect(_SOON_SECONDS * 0.9 < waited < _SOON_SECONDS + PROMPTLY_SECONDS, f"{waited:.2f} s passed")

    def test_refused_connection_error_shows_host_and_port_only(self) -> None:
        """A path can hold a key."""
        with ScriptedServer() as gone:
            url = gone.url
        error = self.failure(ConnectionFailedError, url=url, path=f"/{KEY}")
        expect(url in str(error), f"{url} is not in {error}")

    def test_invalid_url_is_a_configuration_error(self) -> None:
        """Other schemes, no host, characters that no address has."""
        for url in ("ftp://127.0.0.1", "http://", "127.0.0.1", "http://127.0.0.1:1/\n"):
            self.failure(ConfigurationError, url=url)

    def test_headers_with_invalid_characters_are_a_configuration_error(self) -> None:
        """A key with a line break could add headers of its own."""
        for value in (f"{KEY}\r\nx-more: 1", f"{KEY}\n", f"{KEY}\x00", f"{KEY}\u00e9", f"{KEY}\u2603"):
            self.failure(ConfigurationError, headers={"authorization": value})
        same(self.server.requests, [])

    def test_body_in_an_unexpected_encoding_is_refused(self) -> None:
        """A kilobyte compressed twice can fill the memory."""
        for encoding in _UNEXPECTED:
            self.server.script(answer(b"x", content_encoding=encoding))
            error = self.failure(ServerError)
            expect(f"Content-Encoding {encoding!r}" in str(error), f"{encoding} is not in {error}")

    def test_error_in_an_unexpected_encoding_keeps_its_status(self) -> None:
        """Its headers too; its body is taken as empty."""
        for encoding in _UNEXPECTED:
            self.server.script(answer(b"x", 401, content_encoding=encoding, retry_after="7"))
            response = self.answer()
            same((response.status, response.body, response.headers["retry-after"]), (401, b"", "7"))

    def test_corrupt_compressed_body_is_a_server_error(self) -> None:
        """Its Content-Encoding is gzip, its data is not."""
        for body in (b"plain text", gzip.compress(b"one") + b"plain text"):
            self.server.script(answer(body, content_encoding="gzip"))
            self.failure(ServerError)

    def test_abort_ends_a_read_in_another_thread(self) -> None:
        """And never looks like the end of the body, also where the connection's end is the body's."""
        for head in (stream_head() + chunk(b"data"), b"HTTP/1.1 200 OK\r\n\r\ndata"):
            number = len(self.server.connections)
            self.server.script(head, HANG)
            body = self.run(self.open())
            same(self.run(body.read()), b"data")
            cutter = threading.Timer(_SOON_SECONDS / 4, body.abort)
            cutter.start()
            try:
                more = self.run(rest(body))
            except ConnectionFailedError:
                self.server.assert_closed_promptly(time.monotonic(), number)
            else:
                raise AssertionError(f"the aborted body returned {more!r}, and ended")
            finally:
                cutter.join()
                self.run(body.close())

    def test_abort_after_the_end_does_not_affect_the_next_call(self) -> None:
        """The body has released its connection by then, and another request may use it."""
        gate = self.server.gate()
        self.server.script(stream_head() + chunk(b"one") + LAST_CHUNK)
        self.server.script(stream_head() + chunk(b"two"), gate, chunk(b"three") + LAST_CHUNK)
        first = self.run(self.open())
        same(self.run(rest(first)), b"one")
        second = self.run(self.open())
        same(self.run(second.read()), b"two")
        same(len(self.server.connections), 1)
        first.abort()
        gate.open()
        same(self.run(rest(second)), b"three")
        self.run(first.close())
        self.run(second.close())
