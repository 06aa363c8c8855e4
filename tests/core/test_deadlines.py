"""Deadlines on the clock of this machine, in both colours: a call ends in time, and its connection with it."""

from __future__ import annotations

import time

import pytest

from abstractcore import OverloadedError, RequestTimeoutError
from tests.chaos_server import HANG, Pause, completion, drip, failure


def test_the_deadline_counts_over_all_tries(colour, server, connect):
    server.always(Pause(0.08), failure(503, retry_after_ms="1"))
    began = time.monotonic()
    with pytest.raises((OverloadedError, RequestTimeoutError)):
        colour.generate(connect(max_retries=100), "hi", timeout=0.3)
    assert time.monotonic() - began < 1.0
    assert 2 <= len(server.requests) <= 4


def test_the_deadline_counts_over_an_answer_that_drips(colour, server, connect):
    head, body = completion("x" * 500).split(b"\r\n\r\n")
    server.always(head + b"\r\n\r\n", *drip(body, Pause(0.01)))
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError) as caught:
        colour.generate(connect(), "hi", timeout=0.2)
    ended = time.monotonic()
    assert ended - began < 1.0
    assert [attempt.error for attempt in caught.value.attempts] == ["RequestTimeoutError"]
    server.assert_closed_promptly(ended)


def test_no_answer_is_a_timeout_and_its_connection_is_closed(colour, server, connect):
    server.script(HANG)
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError, match="timeout="):
        colour.generate(connect(), "hi", timeout=0.2)
    ended = time.monotonic()
    assert 0.15 < ended - began < 1.0
    server.assert_closed_promptly(ended)
