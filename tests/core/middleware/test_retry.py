"""Retries, sync and async: which failures, how often, backoff, and never after a partial answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import httpx2
import openai
import pytest

from abstractcore import (
    ConnectionFailedError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ServerError,
    Services,
    StreamInterruptedError,
    TextDelta,
)
from abstractcore.concurrency import AsyncRuntime, SyncRuntime
from abstractcore.middleware import Retry
from abstractcore.ports import Attempt, CallContext, Operation
from abstractcore.schema import Encoded, Message, ModelCall, ModelReply, WireRequest
from abstractcore.testing import VirtualClock
from tests.chaos_server import (
    CUT,
    RESET,
    chunk,
    completion,
    delta,
    event,
    failure,
    stream_head,
    streamed,
)


@pytest.fixture
def clock() -> VirtualClock:
    """Pauses take no time here."""
    return VirtualClock()


@pytest.fixture
def services(services, clock) -> Iterator[Services]:
    """Those of other tests, on virtual time."""
    services = Services(environment={}, random=lambda: 0.0, clock=clock)
    yield services
    services.close()


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_n_retries_are_n_plus_1_requests(call_style, server, connect, retries):
    server.always(failure(503, "busy"))
    with pytest.raises(OverloadedError) as caught:
        call_style.generate(connect(max_retries=retries), "hi")
    assert len(server.requests) == retries + 1
    assert [attempt.number for attempt in caught.value.attempts] == list(range(1, retries + 2))
    assert {(attempt.status, attempt.error) for attempt in caught.value.attempts} == {(503, "OverloadedError")}


def test_default_is_two_retries(call_style, server, connect):
    server.always(failure(500))
    with pytest.raises(ServerError):
        call_style.generate(connect(), "hi")
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_transient_failure_is_retried(call_style, server, connect, status):
    server.script(failure(status))
    server.script(completion("second"))
    response = call_style.generate(connect(), "hi")
    assert response.content == "second"
    assert [attempt.status for attempt in response.attempts] == [status, 200]
    assert [attempt.error is None for attempt in response.attempts] == [False, True]
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_permanent_failure_is_not_retried(call_style, server, connect, status):
    server.script(failure(status))
    with pytest.raises(ProviderError) as caught:
        call_style.generate(connect(), "hi")
    assert not caught.value.retryable
    assert len(server.requests) == 1


SHOULD_RETRY = [{}, *({"x_should_retry": value} for value in ("true", "false", "TRUE", "0", ""))]


@pytest.mark.parametrize("status", [307, 400, 401, 404, 408, 409, 422, 429, 500, 503])
def test_should_retry_header_decides_as_in_openais_client(call_style, server, connect, status):
    """The reference is `_should_retry` of `openai.OpenAI`, for every value of `x-should-retry`."""
    with openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9") as client:
        for headers in SHOULD_RETRY:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            expected = client._should_retry(httpx2.Response(status, headers=sent))
            server.script(failure(status, **headers))
            if expected:
                server.script(completion("second"))
                assert call_style.generate(connect(), "hi").content == "second", headers
            else:
                with pytest.raises(ProviderError) as caught:
                    call_style.generate(connect(), "hi")
                assert not caught.value.retryable, headers
    assert len(SHOULD_RETRY) == 6


@pytest.mark.parametrize(("code", "value"), [("insufficient_quota", "true"), ("rate_limit_exceeded", "false")])
def test_should_retry_header_precedes_the_error_code(call_style, server, connect, code, value):
    server.script(failure(429, error={"code": code}, x_should_retry=value))
    if value == "true":
        server.script(completion("second"))
        assert call_style.generate(connect(), "hi").content == "second"
    else:
        with pytest.raises(RateLimitError):
            call_style.generate(connect(), "hi")


def test_exhausted_quota_with_status_429_is_not_retried(call_style, server, connect):
    server.script(failure(429, error={"code": "insufficient_quota"}))
    with pytest.raises(QuotaError):
        call_style.generate(connect(), "hi")
    assert len(server.requests) == 1


@pytest.mark.parametrize("steps", [[CUT], [RESET], [b"HTTP/1.1 200 OK\r\n", CUT], [b"HTTP/1.1 200 OK\r\n", RESET]])
def test_connection_broken_before_the_response_is_retried(call_style, server, connect, steps):
    server.script(*steps)
    server.script(completion("second"))
    response = call_style.generate(connect(), "hi")
    assert response.content == "second"
    assert [attempt.error for attempt in response.attempts] == ["ConnectionFailedError", None]
    assert len(server.requests) == 2


def test_retry_after_in_seconds_milliseconds_and_dates(call_style, server, connect):
    date = "Wed, 21 Oct 2026 07:28:0{} GMT"
    for headers in (
        {"retry_after": "7"},
        {"retry_after": "1.5"},
        {"retry_after_ms": "250", "retry_after": "9"},
        {"retry_after": date.format(5), "date": date.format(1)},
        {"retry_after": date.format(1), "date": date.format(5)},
        {"retry_after": "soon"},
        {"retry_after": "-3"},
    ):
        server.script(failure(429, **headers))
    waits = []
    for _ in range(7):
        with pytest.raises(RateLimitError) as caught:
            call_style.generate(connect(max_retries=0), "hi")
        waits.append(caught.value.retry_after)
    assert waits == [7.0, 1.5, 0.25, 4.0, 0.0, None, None]


def test_retry_after_is_obeyed_unless_it_passes_the_deadline(call_style, server, connect, clock):
    for _ in range(2):
        server.script(failure(429, "slow down", retry_after="60"))
    server.script(completion())
    with pytest.raises(RateLimitError) as caught:
        call_style.generate(connect(), "hi", timeout=5)
    assert clock.sleeps == []
    assert caught.value.retry_after == 60.0
    assert len(server.requests) == 1
    call_style.generate(connect(), "hi", timeout=61)
    assert clock.sleeps == [60.0]


def test_stream_is_retried_before_its_first_delta(call_style, server, connect):
    server.script(failure(503))
    server.script(stream_head(), CUT)
    server.script(streamed("a"))
    with call_style.stream(connect(), "hi") as stream:
        assert "".join(stream.text()) == "a"
    assert [attempt.error for attempt in stream.response.attempts] == [
        "OverloadedError",
        "ConnectionFailedError",
        None,
    ]


@pytest.mark.parametrize("ending", [CUT, event({"error": {"message": "busy", "code": "server_error"}})])
def test_stream_is_never_retried_after_its_first_delta(call_style, server, connect, ending):
    server.script(stream_head() + chunk(delta("a")), ending if ending is CUT else chunk(ending))
    stream = call_style.stream(connect(), "hi")
    first = list(itertools.takewhile(lambda each: not isinstance(each, TextDelta), stream))
    assert first
    with pytest.raises((StreamInterruptedError, ServerError)) as caught:
        list(stream)
    assert caught.value.partial.text == stream.partial.text == "a"
    assert len(server.requests) == 1


def test_retry_count_is_not_sent_in_headers(call_style, server, connect):
    server.script(failure(500))
    server.script(completion())
    call_style.generate(connect(), "hi")
    first, second = (request.headers for request in server.requests)
    assert first == second


# The pauses, without a server: what `Retry` asks of its runtime.


OPERATION = Operation(
    "chat", ModelCall, lambda call: Encoded(WireRequest("/", {}, b"")), lambda response, call: ModelReply()
)


def pauses(call_style, error: ProviderError, *, retries: int = 8, chance: float = 1.0, deadline: float | None = None):
    clock = VirtualClock()
    runtime = SyncRuntime(clock) if call_style.name == "sync" else AsyncRuntime(clock)
    context = CallContext(ModelCall("m", (Message.user("hi"),)), runtime, 0.0, 0.0, deadline, "t", OPERATION)
    numbers = []

    async def fail(attempt: Attempt):
        numbers.append(attempt.number)
        raise error

    with pytest.raises(type(error)) as caught:
        attempt = Attempt(context, WireRequest("/", {}, b""), OPERATION)
        call_style.run(Retry(retries, lambda: chance).around_attempt(attempt, fail))
    assert caught.value is error
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(clock.sleeps) == len(numbers) - 1
    return clock.sleeps


def test_backoff_doubles_up_to_a_limit(call_style):
    assert pauses(call_style, ConnectionFailedError("x")) == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_jitter_removes_up_to_half_of_the_backoff(call_style):
    assert pauses(call_style, ConnectionFailedError("x"), retries=3, chance=0.0) == [0.25, 0.5, 1.0]
    assert pauses(call_style, ConnectionFailedError("x"), retries=2, chance=0.5) == [0.375, 0.75]


def test_retry_after_replaces_the_backoff(call_style):
    assert pauses(call_style, RateLimitError("x", retry_after=3.25), retries=2) == [3.25, 3.25]


def test_backoff_past_the_deadline_is_not_started(call_style):
    assert pauses(call_style, ConnectionFailedError("x"), deadline=4.0) == [0.5, 1, 2]
    assert pauses(call_style, RateLimitError("x", retry_after=4.0), deadline=4.0) == []


def test_permanent_error_is_raised_at_once(call_style):
    assert pauses(call_style, QuotaError("x", retry_after=0.0)) == []
