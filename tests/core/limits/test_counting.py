"""What counts in any minute: never above the limits, however the clock goes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import InvalidInputError, Limits, create_llm
from abstractcore.limits.counting import CallCounts, CountedCall, FixedNumbers, LimitReached

NEVER = math.inf


def begun(counts: CallCounts, numbers: FixedNumbers, tokens: int = 0, now: float = 0.0) -> CountedCall:
    found = counts.begin(numbers, tokens, now, NEVER)
    assert isinstance(found, CountedCall)
    return found


@given(
    st.lists(st.tuples(st.floats(0, 30), st.integers(0, 50), st.integers(0, 60), st.booleans()), max_size=60),
    st.integers(1, 6),
    st.integers(1, 90),
)
def test_nothing_is_above_the_limits_in_any_minute(
    asked: list[tuple[float, int, int, bool]], requests: int, tokens: int
):
    """Calls that are told to wait come back when they were told to."""
    counts, numbers, now = CallCounts(), FixedNumbers(requests, tokens), 0.0
    let_in: list[tuple[float, CountedCall]] = []
    for pause, reserved, used, ends in asked:
        now += pause
        for _ in range(100):
            found = counts.begin(numbers, reserved, now, NEVER)
            if isinstance(found, CountedCall):
                break
            assert 0 < found.retry_after <= 60.001
            now += found.retry_after
        else:
            raise AssertionError("it was never let in")
        let_in.append((now, found))
        if ends:
            counts.settle(found, min(used, found.tokens))
    for start, _ in let_in:
        window = [call for at, call in let_in if start <= at < start + 60]
        assert len(window) <= requests
        assert sum(call.tokens for call in window) <= tokens


def test_room_is_there_as_soon_as_it_is_said_to_be():
    counts, numbers = CallCounts(), FixedNumbers(3, 100)
    for at, tokens in ((0.0, 40), (10.0, 40), (20.0, 20)):
        begun(counts, numbers, tokens, at)
    assert counts.begin(numbers, 10, 30.0, NEVER) == LimitReached("requests", 3, 30.0)
    assert counts.begin(FixedNumbers(None, 100), 60, 30.0, NEVER) == LimitReached("tokens", 100, 40.0)
    assert counts.begin(FixedNumbers(2), 0, 30.0, NEVER) == LimitReached("requests", 2, 40.0)
    begun(counts, numbers, 10, 60.0)


def test_call_above_the_limit_of_tokens_is_let_in_alone():
    counts, numbers = CallCounts(), FixedNumbers(None, 100)
    call = begun(counts, numbers, 5_000)
    assert counts.begin(numbers, 1, 0.0, NEVER) == LimitReached("tokens", 100, 60.0)
    counts.settle(call, 30)
    begun(counts, numbers, 70)


def test_calls_at_once_end_or_expire():
    counts, numbers = CallCounts(), FixedNumbers(parallel=2)
    first, second = begun(counts, numbers), counts.begin(numbers, 0, 0.0, 100.0)
    assert counts.begin(numbers, 0, 40.0, NEVER) == LimitReached("calls at once", 2, 60.0)
    counts.settle(first, 0)
    begun(counts, numbers, 0, 40.0)
    begun(counts, numbers, 0, 100.0)  # the second has expired
    assert isinstance(second, CountedCall)
    counts.settle(second, 10)
    assert counts.running == 2


def test_call_that_was_not_sent_does_not_count():
    counts, numbers = CallCounts(), FixedNumbers(1, 100)
    call = begun(counts, numbers, 100)
    counts.drop(call)
    counts.drop(call)
    counts.settle(call, 50)
    assert (counts.requests, counts.tokens, counts.running) == (0, 0, 0)
    begun(counts, numbers, 100)


def test_clock_that_goes_back_blocks_nothing_for_longer_than_a_minute():
    counts, numbers = CallCounts(), FixedNumbers(1)
    begun(counts, numbers, now=1_000_000.0)
    assert counts.begin(numbers, 0, 5.0, NEVER) == LimitReached("requests", 1, 60.0)
    begun(counts, numbers, now=65.0)


@pytest.mark.parametrize("field", ["requests_per_minute", "tokens_per_minute", "parallel"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1.5, True, "60", 2**31])
def test_number_that_is_none_is_refused(field: str, value: Any):
    with pytest.raises(InvalidInputError, match="expected a whole number from 1") as caught:
        Limits(**{field: value})
    assert caught.value.path == field
    assert (caught.value.hint == "A limit of 0 would let no call begin.") == (value == 0 and value is not False)
    with pytest.raises(InvalidInputError) as caught:
        create_llm("scripted", replies=["a"], limits={field: value})
    assert caught.value.path == f"limits.{field}"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("lern", "got 'lern'"),
        (60, "got int"),
        ({"rpm": 60}, "unknown field 'rpm'"),
        ({"store": "sqlite:///x.db"}, "has no effect without a number"),
        ({"store": "sqlite:///x.db", "parallel": 1}, "give them one"),
        ({"store": 1, "parallel": 1, "name": "a"}, "expected a path or a URL"),
        ({"name": "", "parallel": 1}, "expected a text"),
        ({"name": "x" * 91, "parallel": 1}, "expected a text"),
    ],
)
def test_invalid_limits_are_refused(given: Any, problem: str):
    with pytest.raises(InvalidInputError, match=problem):
        create_llm("scripted", replies=["a"], limits=given)


@pytest.mark.parametrize("value", [1001, -1001, 0.5, math.nan, "high", True])
def test_invalid_priority_is_refused(value: Any):
    llm = create_llm("scripted", replies=["a"])
    with pytest.raises(InvalidInputError, match="priority: expected a whole number"):
        llm.generate("hi", priority=value)
