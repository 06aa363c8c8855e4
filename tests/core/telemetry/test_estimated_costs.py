"""Requests that left and ended without reporting their tokens: what they cost is estimated, and never 0."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    CallRecord,
    ConnectionFailedError,
    Price,
    RequestTimeoutError,
    Services,
    StreamInterruptedError,
    context,
    create_llm,
    tool,
)
from abstractcore.schema import from_json, to_json
from abstractcore.testing import CallStyle
from abstractcore.testing.http_server import ScriptedServer
from tests.backend_doubles import PNG
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    failure,
    raw_answer,
    stream_head,
)

PRICE = Price(input=1_000_000, output=10_000_000)
"""A dollar for a token of input, ten for one of output."""
PAID = Decimal(3 * 1 + 2 * 10)
"""The price of a scripted completion."""

Records = Callable[[], list[CallRecord]]


@pytest.fixture
def records(services: Services) -> Iterator[Records]:
    """The records of calls."""
    found: list[CallRecord] = []
    with services.records.subscribe(found.append):

        def read() -> list[CallRecord]:
            assert services.records.flush(PATIENCE_SECONDS)
            for record in found:
                assert from_json(to_json(record)) == record
            return found

        yield read


@pytest.fixture
def llm(server: ScriptedServer, services: Services) -> Any:
    """An LLM that the chaos server answers."""
    return create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=services, price=PRICE, max_retries=1)


def input_tokens(llm: Any) -> int:
    return llm.plan("hi").estimated_input_tokens


def test_call_that_times_out_after_it_was_sent_is_estimated(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    server.script(HANG)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi", timeout=0.3, max_output_tokens=4)
    (record,) = records()
    assert (record.cost, record.cost_reason) == (None, "no response reported its tokens")
    assert record.estimated_cost == input_tokens(llm) + 4 * 10


def test_stream_that_is_cut_is_estimated_by_what_arrived(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    server.script(stream_head() + chunk(delta("one two three four")), CUT)
    with pytest.raises(StreamInterruptedError):
        list(call_style.stream(llm, "hi"))
    (record,) = records()
    assert record.cost is None
    assert record.estimated_cost is not None
    written = (record.estimated_cost - input_tokens(llm)) / 10
    assert 3 <= written <= 8


def test_stream_that_is_left_costs_what_arrived(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    """The vendor's count at the beginning of a stream is too low."""
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    server.script(stream_head() + chunk(delta("one two three four", usage=usage)), HANG)
    stream = call_style.stream(llm, "hi")
    next(stream)
    stream.close()
    (record,) = records()
    assert (record.outcome, record.cost, record.cost_source) == ("abandoned", 3 + 10, "estimate")
    assert record.estimated_cost is not None
    assert 2 * 10 <= record.estimated_cost <= 7 * 10


def test_cancelled_call_is_estimated(server: ScriptedServer, llm: Any, records: Records):
    arrived = server.gate()
    server.script(arrived)

    async def main() -> None:
        call = asyncio.create_task(llm.agenerate("hi", max_output_tokens=1))
        await asyncio.to_thread(server.wait_for_requests, 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    (record,) = records()
    assert (record.outcome, record.cost) == ("cancelled", None)
    assert record.estimated_cost is not None
    assert input_tokens(llm) <= record.estimated_cost <= input_tokens(llm) + 10


def test_response_that_cannot_be_read_is_estimated(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    for _ in range(2):
        server.script(raw_answer(b"[1, 2"))
    with pytest.raises(AbstractCoreError):
        call_style.generate(llm, "hi", max_output_tokens=1)
    (record,) = records()
    assert record.cost is None
    assert record.estimated_cost is not None
    assert record.estimated_cost >= input_tokens(llm)


@pytest.mark.parametrize("stream", [False, True])
def test_answer_without_usage_is_estimated(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records, stream: bool
):
    events = [delta("four"), delta(finish_reason="stop"), DONE]
    body = {**completion_body("four"), "usage": None}
    server.script(stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK if stream else answer(body))
    if stream:
        with call_style.stream(llm, "hi") as deltas:
            list(deltas)
        response = deltas.response
    else:
        response = call_style.generate(llm, "hi")
    (record,) = records()
    assert (response.cost, record.cost) == (None, None)
    assert response.estimated_cost == record.estimated_cost
    assert response.estimated_cost is not None
    assert response.estimated_cost > input_tokens(llm)
    assert from_json(to_json(response)) == response


def test_attempt_that_was_lost_is_a_line_of_its_own(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    server.script(CUT)
    server.script(completion())
    response = call_style.generate(llm, "hi", max_output_tokens=1)
    (record,) = records()
    lost, done = record.attempts
    assert lost.error == "ConnectionFailedError"
    assert (lost.cost, done.cost, done.estimated_cost) == (None, PAID, None)
    assert lost.estimated_cost is not None
    assert record.cost == response.cost == PAID
    assert record.estimated_cost == response.estimated_cost == lost.estimated_cost
    assert lost.estimated_cost >= input_tokens(llm)


def test_attempts_that_were_refused_have_no_estimate(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    server.script(failure(503, retry_after="0"))
    server.script(completion())
    response = call_style.generate(llm, "hi")
    (record,) = records()
    refused, done = record.attempts
    assert (refused.cost, refused.estimated_cost, done.cost) == (None, None, PAID)
    assert (record.cost, record.estimated_cost) == (response.cost, response.estimated_cost) == (PAID, None)


def test_error_in_a_successful_response_has_no_estimate(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    server.script(answer({"error": {"message": "no such key", "code": 401}}))
    with pytest.raises(AbstractCoreError):
        call_style.generate(llm, "hi")
    (record,) = records()
    assert (record.cost, record.estimated_cost) == (None, None)


def test_file_counts_as_it_is_sent(call_style: CallStyle, server: ScriptedServer, services: Services, records: Records):
    llm = create_llm(
        "openai-compatible/m",
        base_url=f"{server.url}/v1",
        services=services,
        price=PRICE,
        max_retries=0,
        facts={"accepts": ["image"]},
    )
    for media in ([], [PNG]):
        server.script(CUT)
        with pytest.raises(ConnectionFailedError):
            call_style.generate(llm, "hi", media=media, max_output_tokens=1)
    without, with_image = records()
    assert without.estimated_cost is not None
    assert with_image.estimated_cost is not None
    assert with_image.estimated_cost > without.estimated_cost


def test_single_attempt_repeats_nothing(call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records):
    server.script(completion())
    call_style.generate(llm, "hi")
    (record,) = records()
    assert [attempt.cost for attempt in record.attempts] == [None]


def test_request_that_was_not_sent_costs_nothing(call_style: CallStyle, services: Services, records: Records):
    llm = create_llm(
        "openai-compatible/m", base_url="http://127.0.0.1:1/v1", services=services, price=PRICE, max_retries=0
    )
    with pytest.raises(AbstractCoreError):
        call_style.generate(llm, "hi")
    (record,) = records()
    assert (record.cost, record.cost_source, record.estimated_cost) == (0, "computed", None)


def test_without_a_price_the_cost_stays_unknown(
    call_style: CallStyle, server: ScriptedServer, services: Services, records: Records
):
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=services)
    server.script(HANG)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi", timeout=0.3)
    (record,) = records()
    assert (record.cost, record.estimated_cost) == (None, None)


@tool
def clock() -> str:
    """The time."""
    return "noon"


def test_loop_adds_up_what_is_known_and_what_is_estimated(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    called = completion_body("", "tool_calls")
    function = {"name": "clock", "arguments": "{}"}
    called["choices"][0]["message"]["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    server.script(answer(called))
    server.script(CUT)
    server.script(completion())
    with context(tags={"team": "t"}):
        response = call_style.generate(llm, "What time is it?", tools=[clock], run_tools=True)
    found = records()
    assert response.cost == sum(record.cost or 0 for record in found) == 2 * PAID
    assert response.estimated_cost == sum(record.estimated_cost or 0 for record in found) > 0
    assert response.loop is not None
    assert response.loop.estimated_cost == response.estimated_cost


def test_loop_whose_last_round_is_lost_is_estimated_as_a_whole(
    call_style: CallStyle, server: ScriptedServer, llm: Any, records: Records
):
    called = completion_body("", "tool_calls")
    function = {"name": "clock", "arguments": "{}"}
    called["choices"][0]["message"]["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    server.script(answer(called))
    for _ in range(2):
        server.script(CUT)
    caught: Any
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(llm, "What time is it?", tools=[clock], run_tools=True)
    first, second = records()
    loop = caught.value.loop
    assert (first.cost, second.cost, loop.cost) == (PAID, None, None)
    assert second.estimated_cost is not None
    assert loop.estimated_cost == PAID + second.estimated_cost
