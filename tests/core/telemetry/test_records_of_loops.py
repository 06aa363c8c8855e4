"""Records of tool loops: one for each round, under the id of the loop, and together what the loop used and cost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    CallRecord,
    ModelReply,
    OverloadedError,
    Price,
    Services,
    TextPart,
    ToolCall,
    Usage,
    context,
    create_llm,
    tool,
)
from abstractcore.schema import Billing
from abstractcore.testing import ScriptedReply, VirtualClock
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.tools.loops import WAYS, Way, calls

PRICE = Price(input=1, output=10)


@pytest.fixture(params=WAYS)
def way(request: Any) -> Iterator[Way]:
    """One of the four ways."""
    with Way.of(request.param) as way:
        yield way


@pytest.fixture
def services() -> Iterator[Services]:
    """Pauses before retries take no time here."""
    services = Services(environment={}, clock=VirtualClock())
    yield services
    services.close()


@tool
def pay(to: str) -> str:
    """Pays."""
    return f"paid {to}"


def used(records: list[CallRecord]) -> tuple[Usage, Decimal]:
    usage = sum((record.usage for record in records), Usage())
    return usage, sum((record.cost for record in records if record.cost is not None), Decimal(0))


def test_each_round_has_a_record_and_their_sum_is_that_of_the_loop(way: Way, services: Services):
    replies = [
        calls(("pay", {"to": "Ann"}), ("pay", {"to": "Bob"})),
        OverloadedError("busy", retry_after=1),
        calls(("pay", {"to": "Cy"})),
        "none",
        "[1]",
    ]
    records: list[CallRecord] = []
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE)
    with services.records.subscribe(records.append), context(session="s", tags={"team": "t"}):
        response: Any = way.generate(llm, tools=[pay], run_tools=True, response_model=list[int])
        assert services.records.flush(PATIENCE_SECONDS)
    assert [record.outcome for record in records] == ["done"] * 4
    assert [len(record.attempts) for record in records] == [1, 2, 1, 1]
    assert {record.parent_id for record in records} == {response.trace_id}
    assert {(record.tags["session"], record.tags["team"]) for record in records} == {("s", "t")}
    assert {record.streamed for record in records} == {way.streamed}
    assert used(records) == (response.usage, response.cost) == (response.loop.usage, response.loop.cost)
    assert len(response.attempts) == 5


def test_round_that_fails_has_a_record_too(way: Way, services: Services):
    records: list[CallRecord] = []
    replies = [calls(("pay", {"to": "Ann"})), OverloadedError("busy")]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE, max_retries=0)
    caught: Any
    with services.records.subscribe(records.append):
        with pytest.raises(OverloadedError) as caught:
            way.generate(llm, tools=[pay], run_tools=True)
        assert services.records.flush(PATIENCE_SECONDS)
    loop = caught.value.loop
    assert [(record.outcome, record.parent_id) for record in records] == [("done", loop.id), ("failed", loop.id)]
    assert used(records) == (loop.usage, loop.cost)


def test_stream_that_is_left_in_a_round_has_its_record_as_abandoned(services: Services):
    records: list[CallRecord] = []
    replies = [calls(("pay", {"to": "Ann"})), ScriptedReply.chunks(["a ", "b ", "c"])]
    llm = create_llm("scripted", replies=replies, services=services, price=PRICE)
    with services.records.subscribe(records.append):
        with llm.stream("Go.", tools=[pay], run_tools=True) as stream:
            assert next(stream.text()) == "a "
        assert services.records.flush(PATIENCE_SECONDS)
    assert stream.loop is not None
    assert [record.outcome for record in records] == ["done", "abandoned"]
    assert {record.parent_id for record in records} == {stream.loop.id}


def test_cancelled_round_has_its_record(services: Services):
    records: list[CallRecord] = []
    asked = asyncio.Event()

    async def never(call: object) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "-"

    llm = create_llm("scripted", replies=[calls(("pay", {"to": "Ann"})), never], services=services)

    async def main() -> Any:
        call = asyncio.create_task(llm.agenerate("Go.", tools=[pay], run_tools=True))
        await asked.wait()
        call.cancel()
        caught: Any
        with pytest.raises(asyncio.CancelledError) as caught:
            await call
        return caught.value.loop

    with services.records.subscribe(records.append):
        loop = asyncio.run(main())
        assert services.records.flush(PATIENCE_SECONDS)
    assert (loop.status, [step.outcome for step in loop.steps]) == ("cancelled", ["done"])
    assert [(record.outcome, record.parent_id) for record in records] == [("done", loop.id), ("cancelled", loop.id)]


def test_subscribers_that_fail_or_wait_do_not_change_a_loop(way: Way, services: Services):
    free = threading.Event()

    def fails(record: CallRecord) -> None:
        raise ValueError("no")

    def waits(record: CallRecord) -> None:
        assert free.wait(PATIENCE_SECONDS)

    llm = create_llm("scripted", replies=[calls(("pay", {"to": "Ann"})), "Done."], services=services)
    with services.records.subscribe(fails), services.records.subscribe(waits):
        assert way.generate(llm, tools=[pay], run_tools=True).content == "Done."
        free.set()


def test_cost_of_rounds_is_as_sure_as_the_least_sure(way: Way, services: Services):
    def reply(usage: Usage, *parts: Any) -> ModelReply:
        return ModelReply(parts, "tool_calls" if parts else "stop", usage=usage, model="m", provider="scripted")

    charged = reply(Usage(10, 5, billing=Billing(cost=Decimal("0.5"))), ToolCall.of("c1", "pay", {"to": "Ann"}))
    counted = reply(Usage(10, 5), TextPart("Done."))
    request: Any = {"tools": [pay], "run_tools": True}

    def respond(*replies: ModelReply, **options: Any) -> Any:
        return way.generate(create_llm("scripted", replies=list(replies), services=services, **options), **request)

    assert respond(charged, charged, counted, price=PRICE).cost == Decimal("1.00006")
    assert respond(charged, counted, price=PRICE).cost_source == "computed"
    assert respond(charged, replace(counted, usage=charged.usage), price=PRICE).cost_source == "vendor"
