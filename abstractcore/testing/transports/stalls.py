"""Tests with servers that stall at each step of an exchange, or send data slowly."""

from __future__ import annotations

import socket
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

from ...errors import RequestTimeoutError
from ..http_bytes import LAST_CHUNK, answer, chunk, stream_head
from ..http_server import PATIENCE_SECONDS, Pause, drip
from .cases import TransportCase, expect, same

_TIMEOUT_SECONDS = 0.3
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
        self.server.script(Pause(_TIMEOUT_SECONDS), stream_head() + chunk(b"t"), Pause(_TIMEOUT_SECONDS), chunk(b"wo"))
        self.server.script(answer("three"))
        same(self.answer(_TIMEOUT_SECONDS).body, b"one")

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
        self.server.script(stream_head() + chunk(b"one"), Pause(_TIMEOUT_SECONDS / 2), LAST_CHUNK)
        self.server.script(Pause(_TIMEOUT_SECONDS * 2), answer("two"))
        same(self.answer(_TIMEOUT_SECONDS).body, b"one")
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
