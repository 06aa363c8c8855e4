"""Limits that are learned: from headers, and from refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from abstractcore import LimitExceededError, Limits, ModelCall, RateLimitError, Services, create_llm
from abstractcore.limits.counting import FixedNumbers
from abstractcore.limits.learning import LearntRate, numbers_in
from abstractcore.testing import CallStyle, VirtualClock
from tests.chaos_server import completion, failure


@pytest.mark.parametrize(
    ("headers", "numbers"),
    [
        ({}, (None, None)),
        ({"x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "30000"}, (500, 30_000)),
        ({"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-tokens-limit": "40000"}, (50, 40_000)),
        (
            {
                "anthropic-ratelimit-input-tokens-limit": "30000",
                "anthropic-ratelimit-output-tokens-limit": "8000",
            },
            (None, 38_000),
        ),
        ({"x-ratelimit-limit-requests": "0"}, (None, None)),
        ({"x-ratelimit-limit-requests": "-5", "x-ratelimit-limit-tokens": "nan"}, (None, None)),
        ({"x-ratelimit-limit-requests": "9" * 5_000}, (None, None)),
        ({"x-ratelimit-limit-requests": "٣"}, (None, None)),
    ],
)
def test_headers_state_limits(headers: Mapping[str, str], numbers: tuple[int | None, int | None]):
    assert numbers_in(headers) == numbers


def test_refusal_halves_the_stated_limits_and_they_grow_back_by_tenths():
    rate = LearntRate()
    rate.read({"x-ratelimit-limit-requests": "100", "x-ratelimit-limit-tokens": "1000"})
    assert rate.numbers(0.0) == FixedNumbers(100, 1000)
    rate.refused(0.0, 1.0, 40)
    assert rate.numbers(1.0) == FixedNumbers(50, 500)
    rate.refused(0.5, 2.0, 40)  # it left before the first refusal
    assert rate.numbers(10.9) == FixedNumbers(50, 500)
    assert rate.numbers(11.0) == FixedNumbers(60, 600)
    assert rate.numbers(1_000.0) == FixedNumbers(100, 1000)


def test_refusal_without_stated_limits_halves_what_was_let_in_which_goes_on_growing():
    rate = LearntRate()
    assert rate.numbers(0.0) == FixedNumbers()
    rate.refused(0.0, 0.0, 40)
    assert rate.numbers(0.0) == FixedNumbers(20)
    assert rate.numbers(50.0) == FixedNumbers(40)
    assert rate.numbers(100.0) == FixedNumbers(60)
    for at in range(100, 200):
        rate.refused(float(at), float(at), 40)
    assert rate.numbers(199.0) == FixedNumbers(1)


def test_what_a_header_states_is_never_exceeded_though_the_other_number_grows():
    rate = LearntRate()
    rate.read({"x-ratelimit-limit-tokens": "1000"})
    rate.refused(0.0, 0.0, 40)
    assert rate.numbers(0.0) == FixedNumbers(20, 500)
    assert rate.numbers(1_000.0) == FixedNumbers(420, 1000)
    rate.refused(1_000.0, 1_000.0, 40)
    assert rate.numbers(1_000.0) == FixedNumbers(210, 500)


def test_number_that_has_grown_is_the_stated_one_once_there_is_one():
    rate = LearntRate()
    rate.refused(0.0, 0.0, 40)
    assert rate.numbers(1_000.0) == FixedNumbers(420)
    rate.read({"x-ratelimit-limit-requests": "60"})
    assert rate.numbers(1_000.0) == FixedNumbers(60)
    rate.refused(1_000.0, 1_000.0, 40)
    assert rate.numbers(1_000.0) == FixedNumbers(30)


def test_clock_that_goes_back_does_not_stop_the_growth():
    rate = LearntRate()
    rate.refused(1_000_000.0, 1_000_000.0, 40)
    assert rate.numbers(0.0) == FixedNumbers(20)
    assert rate.numbers(50.0) == FixedNumbers(40)
    rate.refused(50.0, 50.0, 40)
    assert rate.numbers(50.0) == FixedNumbers(20)


def test_limits_of_a_response_hold_for_the_next_calls(call_style: CallStyle, server, connect):
    limits = Limits()
    llm = connect(limits=limits)
    server.script(completion("hi", headers={"x-ratelimit-limit-requests": "1"}))
    call_style.generate(llm, "one")
    state = limits.state()
    assert (state.requests_per_minute, state.requests) == (1, 1)
    with pytest.raises(LimitExceededError, match="for 1 requests a minute"):
        call_style.generate(llm, "two", timeout=5)


def test_each_key_and_model_learns_for_itself_in_the_whole_process(server, services: Services):
    def connect(limits: Any, key: str, model: str) -> Any:
        url = f"{server.url}/v1"
        return create_llm("openai-compatible", model, base_url=url, api_key=key, limits=limits, services=services)

    def learned(key: str, model: str = "learned-model") -> int | None:
        server.script(completion("hi"))
        limits = Limits()
        connect(limits, key, model).generate("hi")
        return limits.state().requests_per_minute

    server.script(completion("hi", headers={"x-ratelimit-limit-requests": "77"}))
    connect("learn", "sk-one-of-many", "learned-model").generate("hi")
    assert learned("sk-one-of-many") == 77
    assert learned("sk-another-one") is None
    assert learned("sk-one-of-many", "another-model") is None


def test_refusal_of_a_server_halves_the_rate(server, connect):
    limits = Limits()
    llm = connect(limits=limits, max_retries=0)
    for _ in range(4):
        server.script(completion("hi"))
        llm.generate("hi")
    server.script(failure(429))
    with pytest.raises(RateLimitError):
        llm.generate("hi")
    assert limits.state().requests_per_minute == 2


def test_no_headers_and_no_refusals_mean_no_limit(services: Services, clock: VirtualClock):
    def reply(call: ModelCall) -> str:
        return "ok"

    llm: Any = create_llm("scripted", replies=reply, services=services, limits="learn")

    async def run() -> None:
        await asyncio.gather(*(llm.agenerate("hi") for _ in range(200)))

    asyncio.run(run())
    assert clock.now() == 0
