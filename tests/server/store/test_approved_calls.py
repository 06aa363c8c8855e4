"""Calls that clients have approved, in a SQLite file and a PostgreSQL: each begins once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from abstractcore_server.store import Store
from abstractcore_server.store.approved_calls import ApprovedCalls, BegunCall
from tests.server.store.databases import Clock

RESULT = {"texts": ["done"], "is_error": False}


@pytest.fixture
def calls(store: Store, clock: Clock) -> ApprovedCalls:
    return ApprovedCalls(store, 10_000, clock)


@pytest.mark.process
def test_call_begins_once_and_has_its_result(calls: ApprovedCalls, store: Store, clock: Clock):
    other_process = ApprovedCalls(store, 10_000, clock)
    assert calls.begin(["a"]) == {}
    assert other_process.begin(["a"]) == {"a": BegunCall(None)}
    assert other_process.begin(["b"]) == {}
    calls.end("a", RESULT)
    assert other_process.begin(["a"]) == calls.begin(["a"]) == {"a": BegunCall(RESULT)}
    assert calls.begin(["b"]) == {"b": BegunCall(None)}


def test_calls_of_one_request_begin_together_or_not_at_all(calls: ApprovedCalls):
    calls.begin(["a"])
    assert calls.begin(["a", "b"]) == {"a": BegunCall(None)}
    calls.end("a", RESULT)
    assert calls.begin(["b", "a"]) == {"a": BegunCall(RESULT)}  # "b" has not begun before
    assert calls.begin(["b"]) == {"b": BegunCall(None)}


def test_result_is_kept_for_an_hour_and_that_it_has_begun_for_longer(calls: ApprovedCalls, clock: Clock):
    calls.begin(["a"])
    calls.end("a", RESULT)
    clock.time += 3599
    assert calls.begin(["a"]) == {"a": BegunCall(RESULT)}
    clock.time += 1
    assert calls.begin(["a"]) == {"a": BegunCall(None)}
    clock.time += 6400
    assert calls.begin(["a"]) == {}


def test_only_one_of_many_begins_calls(calls: ApprovedCalls):
    with ThreadPoolExecutor(8) as threads:
        begun = list(threads.map(calls.begin, [["a", "b"], ["b", "a"]] * 8))
    assert begun.count({}) == 1
