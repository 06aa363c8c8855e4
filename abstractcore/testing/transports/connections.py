"""Tests of connection reuse, and of the isolation of calls."""

from __future__ import annotations

import time

from ...errors import ConnectionFailedError, ProviderError, RequestTimeoutError, ServerError
from ..http_server import CUT, HANG, LAST_CHUNK, PATIENCE_SECONDS, ScriptedServer, Step, answer, chunk, stream_head
from .cases import TransportCase, no_warning, same

_AT_ONCE = 64
_SOON_SECONDS = 0.1


class ConnectionTests(TransportCase):
    """Calls are isolated from each other."""

    def test_sequential_calls_share_a_connection(self) -> None:
        """Complete responses with a length, in chunks, and errors."""
        self.server.script(answer("a"))
        self.server.script(stream_head(), chunk(b"b"), LAST_CHUNK)
        self.server.script(answer("c", 500))
        self.server.script(answer("d"))
        same([self.answer().body for _ in range(4)], [b"a", b"b", b"c", b"d"])
        same([request.connection.number for request in self.server.requests], [0, 0, 0, 0])

    def test_idle_connection_closed_by_the_server_is_replaced(self) -> None:
        """The caller does not notice."""
        for text in (b"one", b"two", b"three"):
            gate = self.server.gate()
            self.server.script(answer(text), gate, CUT)
            same(self.answer().body, text)
            gate.open()
            self.server.wait_for(lambda: not self.server.open, "the server's end")
        same(len(self.server.connections), 3)

    def test_unsolicited_data_is_not_read_as_a_response(self) -> None:
        """It could be the response to another caller's request."""
        gate, second_gate = self.server.gate(), self.server.gate()
        self.server.script(answer("one"), gate, answer("unasked"), second_gate)
        same(self.answer().body, b"one")
        gate.open()
        self.server.script(answer("two"))
        second_gate.wait_until_reached()
        self.run(self.settle())
        second_gate.open()
        same(self.answer().body, b"two")

    def test_request_is_sent_once_even_if_an_idle_connection_breaks(self) -> None:
        """A model may already be processing it."""
        self.server.script(answer("one"))
        same(self.answer().body, b"one")
        self.server.script(CUT)
        self.failure(ConnectionFailedError)
        same([request.connection.number for request in self.server.requests], [0, 0])

    def test_concurrent_calls_get_their_own_responses(self) -> None:
        """64, twice, over no more connections than that."""
        self.server.always_by(lambda request: [answer(request.body)])
        prompts = [b"prompt %d" % number for number in range(_AT_ONCE)]
        for _ in range(2):
            calls = [lambda prompt=prompt: self.fetch(body=prompt) for prompt in prompts]
            same([response.body for response in self.run_at_once(calls)], prompts)
        same(len(self.server.connections) <= _AT_ONCE, True)

    def test_body_closed_early_closes_its_connection(self) -> None:
        """The rest of it must not reach the next call."""

        async def leave() -> None:
            body = await self.open()
            await body.read()
            await body.close()
            await body.close()

        self.server.script(stream_head() + chunk(b"old"), HANG)
        self.run(leave())
        left = time.monotonic()
        self.server.script(answer("new"))
        same(self.answer().body, b"new")
        self.server.assert_closed_promptly(left)
        same(len(self.server.connections), 2)

    def test_failed_exchange_leaves_no_open_connection(self) -> None:
        """Interrupted, late and refused responses."""
        # A request that is late itself takes the script of another one, which does no harm.
        failures: list[tuple[list[Step], type[ProviderError], float]] = [
            ([stream_head(), CUT], ConnectionFailedError, PATIENCE_SECONDS),
            ([HANG], RequestTimeoutError, _SOON_SECONDS),
            ([stream_head(), HANG], RequestTimeoutError, _SOON_SECONDS),
            ([answer(b"x", content_encoding="br")], ServerError, PATIENCE_SECONDS),
        ]
        for script, expected, timeout in failures:
            self.server.always(*script)
            self.failure(expected, timeout)
            self.run(self.transport.close())
            self.server.wait_for(lambda: not self.server.open, "the end of the connection")

    def test_redirects_are_returned_and_not_followed(self) -> None:
        """No key goes to another host."""
        with ScriptedServer() as elsewhere:
            for status in (301, 302, 303, 307, 308):
                self.server.script(answer(b"", status, location=f"{elsewhere.url}/"))
                same(self.answer().status, status)
            same(elsewhere.requests, [])

    def test_cookies_are_not_stored(self) -> None:
        """They could identify another tenant."""
        self.server.script(answer("one", set_cookie="tenant=a; Path=/"))
        self.server.script(answer("two"))
        self.answer()
        self.answer()
        same("cookie" in self.server.requests[1].headers, False)

    def test_closed_transport_can_be_reused(self) -> None:
        """Closing affects idle connections only."""
        for text in (b"one", b"two"):
            self.server.script(answer(text))
            same(self.answer().body, text)
            self.run(self.transport.close())

    def test_body_dropped_without_close_emits_no_warning(self) -> None:
        """Its connection is not used again."""
        self.server.script(stream_head() + chunk(b"old"), HANG)
        self.server.script(answer("new"))
        with no_warning():
            body = self.run(self.open())
            self.run(body.read())
            del body
        same(self.answer().body, b"new")
        same(len(self.server.connections), 2)
