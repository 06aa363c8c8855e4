"""HTTP of backends: the transport, retries, deadline and records of their call, sync and async."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest

from abstractcore import (
    LLM,
    AuthenticationError,
    BadRequestError,
    ConnectionFailedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from abstractcore.ports import Made
from abstractcore.schema import WireRequest
from abstractcore.testing import CallStyle
from abstractcore.testing.http_server import CUT, HANG, LAST_CHUNK, ScriptedServer, answer, chunk, stream_head
from tests.backend_doubles import WAV, Records, WithBackend, call, spoken

KEY = "key-of-a-vendor-1234567890"


def remote(url: str, **sending: Any) -> type:
    """Returns a backend that speaks by the server at `url`."""

    class Remote:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def tts(self, text: str) -> Made:
            request = WireRequest(f"{url}/speech?draft=1", {"content-type": "text/plain"}, text.encode())
            response = await self.owner.http.send(request, credentials={"authorization": f"Bearer {KEY}"}, **sending)
            return Made.of(response.body, response.headers["content-type"])

        async def tts_stream(self, text: str) -> AsyncIterator[Made]:
            request = WireRequest(f"{url}/speech/stream", {}, text.encode())
            async with self.owner.http.stream(request, credentials={"x-api-key": KEY}, **sending) as body:
                while piece := await body.read():
                    yield Made.of(piece, "audio/pcm")

    return Remote


@pytest.fixture
def llm(with_backend: WithBackend, server: ScriptedServer) -> LLM:
    return with_backend(voice=remote(server.url), headers={"x-of-the-provider": "1"})


def test_response_becomes_the_result(call_style: CallStyle, llm: LLM, server: ScriptedServer, records: Records):
    server.script(answer(WAV, content_type="audio/wav", x_request_id="r-1"))
    assert call(call_style, llm.voice, "tts", "Hello").part.blob.read() == WAV
    (request,) = server.requests
    assert (request.method, request.target, request.body) == ("POST", "/speech?draft=1", b"Hello")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "x-of-the-provider" not in request.headers
    (record,) = records()
    assert [(each.status, each.request_id) for each in record.attempts] == [(200, "r-1")]
    assert KEY not in repr(record)


def test_transient_failures_are_retried(call_style: CallStyle, llm: LLM, server: ScriptedServer, records: Records):
    server.script(answer(b"busy", 503))
    server.script(CUT)
    server.script(answer(WAV, content_type="audio/wav"))
    call(call_style, llm.voice, "tts", "Hello")
    (record,) = records()
    assert [each.error for each in record.attempts] == ["OverloadedError", "ConnectionFailedError", None]


def test_request_that_may_not_be_repeated_is_sent_once(
    call_style: CallStyle, with_backend: WithBackend, server: ScriptedServer
):
    llm = with_backend(voice=remote(server.url, may_repeat=False))
    server.script(answer(b"busy", 503))
    with pytest.raises(ProviderError, match="the server answered with status 503: 'busy'"):
        call(call_style, llm.voice, "tts", "Hello")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (402, QuotaError),
        (418, BadRequestError),
        (301, BadRequestError),
    ],
)
def test_final_failure_is_a_typed_error_without_the_key(
    call_style: CallStyle, llm: LLM, server: ScriptedServer, status: int, error: Any
):
    server.script(answer(f"the key {KEY} is wrong", status, content_type="text/plain", x_request_id="r-2"))
    with pytest.raises(error) as caught:
        call(call_style, llm.voice, "tts", "Hello")
    assert (caught.value.status, caught.value.provider, caught.value.request_id) == (status, "tests:voice", "r-2")
    assert KEY not in str(caught.value)


def test_vendors_own_errors_are_read_by_the_backend(
    call_style: CallStyle, with_backend: WithBackend, server: ScriptedServer
):
    def read(response: Any) -> ProviderError:
        return RateLimitError(f"the vendor says {response.body.decode()}")

    llm = with_backend(voice=remote(server.url, error=read), max_retries=1)
    server.always(answer(b"wait", 429, retry_after="0"))
    with pytest.raises(RateLimitError, match="the vendor says wait") as caught:
        call(call_style, llm.voice, "tts", "Hello")
    assert (caught.value.retry_after, len(caught.value.attempts), len(server.requests)) == (0.0, 2, 2)


@pytest.mark.parametrize(("status", "value", "requests"), [(429, "false", 1), (400, "true", 2)])
def test_should_retry_header_decides(
    call_style: CallStyle, with_backend: WithBackend, server: ScriptedServer, status: int, value: str, requests: int
):
    llm = with_backend(voice=remote(server.url), max_retries=1)
    server.always(answer(b"wait", status, x_should_retry=value, retry_after="0"))
    with pytest.raises(ProviderError):
        call(call_style, llm.voice, "tts", "Hello")
    assert len(server.requests) == requests


def assert_ends_at_the_time_limit(server: ScriptedServer, request: Callable[..., object]) -> None:
    with pytest.raises(RequestTimeoutError, match=r"timed out after|within"):
        request(timeout=0.3)
    if server.connections:  # on a busy machine the limit can pass before there is one
        server.assert_closed_promptly(time.monotonic())


def test_server_that_never_answers_ends_at_the_time_limit(call_style: CallStyle, llm: LLM, server: ScriptedServer):
    server.script(HANG)
    assert_ends_at_the_time_limit(server, partial(call, call_style, llm.voice, "tts", "Hello"))


def test_body_that_stops_ends_at_the_time_limit(call_style: CallStyle, llm: LLM, server: ScriptedServer):
    server.script(stream_head(), chunk(b"some"), HANG)
    assert_ends_at_the_time_limit(server, partial(call, call_style, llm.voice, "tts", "Hello"))


def test_unreachable_server_is_a_connection_error(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=remote("http://127.0.0.1:1"), max_retries=0)
    with pytest.raises(ConnectionFailedError):
        call(call_style, llm.voice, "tts", "Hello")


def test_streamed_body_becomes_parts(call_style: CallStyle, llm: LLM, server: ScriptedServer, records: Records):
    gate = server.gate()
    server.script(stream_head(), chunk(b"one"), gate, chunk(b"two"), LAST_CHUNK)
    gate.open()
    parts, result = spoken(call_style, llm.voice, "Hello")
    assert b"".join(part.blob.read() for part in parts) == b"onetwo"
    assert len(result.parts) == len(parts)
    (record,) = records()
    assert [(each.status, each.error) for each in record.attempts] == [(200, None)]


def test_failed_streamed_request_is_an_error_with_its_text(call_style: CallStyle, llm: LLM, server: ScriptedServer):
    server.script(answer(b"no such voice", 404, content_type="text/plain"))
    with pytest.raises(ProviderError, match="status 404: 'no such voice'"):
        spoken(call_style, llm.voice, "Hello")


def test_streamed_body_that_stops_ends_at_the_time_limit(call_style: CallStyle, llm: LLM, server: ScriptedServer):
    server.script(stream_head(), chunk(b"one"), HANG)
    assert_ends_at_the_time_limit(server, partial(spoken, call_style, llm.voice, "Hello"))


def test_streamed_body_that_breaks_is_an_error(call_style: CallStyle, llm: LLM, server: ScriptedServer):
    server.script(stream_head(), chunk(b"one"), CUT)
    with pytest.raises((ConnectionFailedError, ServerError)):
        spoken(call_style, llm.voice, "Hello")
