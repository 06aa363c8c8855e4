"""Deadlines on the real clock, sync and async: calls end in time, with their connections."""

from __future__ import annotations

import time

import pytest

from abstractcore import OverloadedError, RequestTimeoutError, create_llm
from abstractcore.schema.base_error import shown_seconds
from tests.chaos_server import HANG, PROMPTLY_SECONDS, Pause, completion, drip, failure


def test_deadline_covers_all_attempts(call_style, server, connect):
    server.always(Pause(0.4), failure(503, retry_after_ms="1"))
    start = time.monotonic()
    with pytest.raises((OverloadedError, RequestTimeoutError)):
        call_style.generate(connect(max_retries=100), "hi", timeout=1.5)
    assert time.monotonic() - start < PROMPTLY_SECONDS
    assert 2 <= len(server.requests) <= 4


def test_deadline_covers_a_dripping_response(call_style, server, connect):
    head, body = completion("x" * 500).split(b"\r\n\r\n")
    server.always(head + b"\r\n\r\n", *drip(body, Pause(0.01)))
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"0\.\d+ s.* timeout=SECONDS") as caught:
        call_style.generate(connect(), "hi", timeout=0.2)
    ended = time.monotonic()
    assert ended - start < PROMPTLY_SECONDS
    assert [attempt.error for attempt in caught.value.attempts] == ["RequestTimeoutError"]
    server.assert_closed_promptly(ended)


def test_missing_response_is_a_timeout_and_closes_its_connection(call_style, server, connect):
    server.script(HANG)
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"0\.\d+ s.* timeout=SECONDS"):
        call_style.generate(connect(), "hi", timeout=0.2)
    ended = time.monotonic()
    assert 0.15 < ended - start < PROMPTLY_SECONDS
    server.assert_closed_promptly(ended)


class OwnTimeout:
    """A middleware with its own, shorter timeout."""

    async def around_attempt(self, attempt, next):
        raise TimeoutError("the limiter did not answer")


def test_timeout_error_of_a_middleware_is_not_mistaken_for_the_deadline(call_style):
    llm = create_llm("scripted", replies=["a"], middleware=[OwnTimeout()])
    with pytest.raises(TimeoutError, match="the limiter did not answer"):
        call_style.generate(llm, "hi")


class Sleeper:
    """Holds every attempt up."""

    async def around_attempt(self, attempt, next):
        await attempt.context.runtime.sleep(0.3)
        return await next(attempt)


def test_deadline_covers_a_sleeping_middleware(call_style, server, connect):
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"0\.\d+ s.* timeout=SECONDS"):
        call_style.generate(connect(middleware=[Sleeper()]), "hi", timeout=0.1)
    assert time.monotonic() - start < PROMPTLY_SECONDS
    assert server.requests == []


@pytest.mark.parametrize(("options", "deadline"), [({}, True), ({"timeout": 5.0}, True), ({"timeout": None}, False)])
def test_timeout_none_means_no_deadline(call_style, options, deadline):
    deadlines = []

    class Watch:
        async def around_call(self, context, next):
            deadlines.append(context.deadline)
            return await next(context)

    call_style.generate(create_llm("scripted", replies=["a"], timeout=3.0, middleware=[Watch()]), "hi", **options)
    assert [each is not None for each in deadlines] == [deadline]


class Late:
    """Answers after the whole time of the call."""

    async def around_call(self, context, next):
        await context.runtime.sleep(context.deadline - context.runtime.now() + 60)


@pytest.mark.parametrize(("timeout", "shown"), [(0.25, "0.25 s"), (1.5, "1.5 s")])
def test_timeout_error_shows_the_timeout(call_style, timeout, shown):
    llm = create_llm("scripted", replies=["a"], middleware=[Late()])
    with pytest.raises(RequestTimeoutError) as caught:
        call_style.generate(llm, "hi", timeout=timeout)
    assert f"timed out after {shown}" in str(caught.value)


@pytest.mark.parametrize(("seconds", "shown"), [(0.00123, "0.0012 s"), (9.5, "9.5 s"), (12.4, "12 s"), (600, "600 s")])
def test_durations_are_formatted(seconds, shown):
    assert shown_seconds(seconds) == shown
