"""Calls that a cache answers: equal ones at once, streams, operations, budgets, and answers that are refused."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import (
    BadRequestError,
    Budget,
    BudgetExceededError,
    OutputValidationError,
    Price,
    RequestTimeoutError,
    ResponseCache,
    StreamInterruptedError,
    create_llm,
    subscribe,
    tool,
)
from abstractcore.middleware.response_cache.entries import Entry, copied
from abstractcore.ports import OperationResult
from abstractcore.schema import accumulate
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS

PRICE = Price(input=1_000_000, output=1_000_000)


@pytest.fixture(params=["memory", "sqlite"])
def cache(request, tmp_path):
    return ResponseCache(None if request.param == "memory" else tmp_path / "cache.db")


def scripted(cache: ResponseCache, *replies: Any, **options: Any):
    return create_llm("scripted", replies=list(replies), middleware=[cache], **options)


class Held:
    """Middleware inside a cache that holds calls until the gate is open, in threads and event loops alike."""

    def __init__(self, fails: int = 0) -> None:
        self.gate, self.entered, self.calls, self._fails = threading.Event(), threading.Event(), 0, fails

    async def around_call(self, context, next):
        self.calls += 1
        number = self.calls
        self.entered.set()
        await context.runtime.call(self.gate.wait)
        if number <= self._fails:
            raise BadRequestError("no")
        return await next(context)


def test_equal_calls_go_on_when_the_first_task_is_cancelled(cache: ResponseCache):
    held = Held()
    llm = create_llm("scripted", replies=["one"], middleware=[cache, held])

    async def main() -> list[Any]:
        first = asyncio.create_task(llm.agenerate("hi"))
        await asyncio.to_thread(held.entered.wait, PATIENCE_SECONDS)
        others = [asyncio.create_task(llm.agenerate("hi")) for _ in range(4)]
        await asyncio.sleep(0)
        first.cancel()
        held.gate.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, *others = asyncio.run(main())
    assert isinstance(first, asyncio.CancelledError)
    assert [each.content for each in others] == ["one"] * 4
    assert held.calls == 2


def test_cancelled_waiter_leaves_the_others_waiting(cache: ResponseCache):
    held = Held()
    llm = create_llm("scripted", replies=["one"], middleware=[cache, held])

    async def main() -> list[Any]:
        first = asyncio.create_task(llm.agenerate("hi"))
        await asyncio.to_thread(held.entered.wait, PATIENCE_SECONDS)
        others = [asyncio.create_task(llm.agenerate("hi")) for _ in range(3)]
        await asyncio.sleep(0)
        others[0].cancel()
        await asyncio.sleep(0)
        held.gate.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    first, cancelled, *others = asyncio.run(main())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert [each.content for each in (first, *others)] == ["one"] * 3
    assert held.calls == 1


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_equal_calls_of_threads_and_event_loops_are_asked_once(cache: ResponseCache, fails: int):
    held = Held(fails)
    llm = create_llm("scripted", replies=["one"], middleware=[cache, held])
    found: list[str] = []

    def noted(function: Any) -> None:
        try:
            found.append(function())
        except BadRequestError:
            found.append("failed")

    def text_of_a_stream() -> str:
        with llm.stream("hi") as stream:
            for _ in stream:
                pass
        return stream.response.content

    async def several() -> None:
        async def one() -> None:
            try:
                found.append((await llm.agenerate("hi")).content)
            except BadRequestError:
                found.append("failed")

        await asyncio.gather(one(), one(), one())

    functions = [
        lambda: noted(lambda: llm.generate("hi").content),
        lambda: noted(text_of_a_stream),
        lambda: asyncio.run(several()),
    ]
    threads = [threading.Thread(target=each) for each in functions * 2]
    for thread in threads:
        thread.start()
    assert held.entered.wait(PATIENCE_SECONDS)
    held.gate.set()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert sorted(found) == ["failed"] * fails + ["one"] * (10 - fails)
    assert held.calls == fails + 1


def test_waiting_call_has_a_time_limit_of_its_own(call_style, cache: ResponseCache):
    held = Held()
    llm = create_llm("scripted", replies=["one"], middleware=[cache, held])
    thread = threading.Thread(target=llm.generate, args=["hi"])
    thread.start()
    assert held.entered.wait(PATIENCE_SECONDS)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi", timeout=0.05)
    held.gate.set()
    thread.join(PATIENCE_SECONDS)
    assert held.calls == 1


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"rain in {city}"


def test_stream_of_a_hit_gives_the_same_reply_and_calls_of_tools(call_style, cache: ResponseCache):
    asked = ScriptedReply.tool_call("weather", {"city": "Oslo"})
    llm = scripted(cache, asked)
    with call_style.stream(llm, "hi", tools=[weather]) as stream:
        first = list(stream)
    with call_style.stream(llm, "hi", tools=[weather]) as replayed:
        again = list(replayed)
    assert accumulate(again) == accumulate(first)
    assert replayed.response.tool_calls == stream.response.tool_calls
    assert (replayed.response.cost, replayed.response.cached_at is not None) == (Decimal(0), True)


def test_loop_of_tools_is_answered_without_a_request_and_runs_the_tools_again(call_style, cache: ResponseCache):
    ran: list[str] = []

    @tool
    def look(city: str) -> str:
        """Returns the weather."""
        ran.append(city)
        return "rain"

    asked = ScriptedReply.tool_call("look", {"city": "Oslo"})
    llm = scripted(cache, asked, "Take an umbrella.", price=PRICE)
    found = [call_style.generate(llm, "hi", tools=[look], run_tools=True) for _ in range(2)]
    assert [each.content for each in found] == ["Take an umbrella."] * 2
    assert (found[1].cost, ran) == (Decimal(0), ["Oslo", "Oslo"])


def test_cut_stream_is_not_kept(call_style, cache: ResponseCache):
    cut = replace(ScriptedReply.text("half of it"), then=StreamInterruptedError("cut"))
    llm = scripted(cache, cut, "whole", max_retries=0)
    with pytest.raises(StreamInterruptedError), call_style.stream(llm, "hi") as stream:
        list(stream)
    assert call_style.generate(llm, "hi").content == "whole"


class Answer(BaseModel):
    number: int


def test_answer_that_does_not_match_its_type_is_asked_again_by_the_next_call(call_style, cache: ResponseCache):
    llm = scripted(cache, '{"number": "many"}', '{"number": "few"}', '{"number": 3}')
    for _ in range(2):
        with pytest.raises(OutputValidationError):
            call_style.generate(llm, "hi", response_model=Answer, output_retries=0)
    assert call_style.generate(llm, "hi", response_model=Answer, output_retries=0).output == Answer(number=3)
    assert call_style.generate(llm, "hi", response_model=Answer, output_retries=0).cached_at is not None


def test_corrected_answer_is_given_again_without_a_request(call_style, cache: ResponseCache):
    llm = scripted(cache, '{"number": "many"}', '{"number": 3}', price=PRICE)
    found = [call_style.generate(llm, "hi", response_model=Answer, output_retries=1) for _ in range(2)]
    assert [each.output for each in found] == [Answer(number=3)] * 2
    assert found[1].cost == 0


def test_hit_fits_into_a_budget_that_is_spent_and_charges_nothing(call_style, cache: ResponseCache):
    budget = Budget(usd=5, per=None)
    asked: list[Any] = []
    rich = scripted(cache, "one", price=PRICE)
    call_style.generate(rich, "hi", max_output_tokens=1)
    poor = scripted(cache, "one", price=PRICE, budgets=[budget])
    with subscribe(asked.append):
        hit = call_style.generate(poor, "hi", max_output_tokens=1)
        assert (hit.content, hit.cost) == ("one", Decimal(0))
        with pytest.raises(BudgetExceededError):
            call_style.generate(poor, "a much longer question " * 10, max_output_tokens=100)
        call_style.generate(poor, "hi", max_output_tokens=1)
    assert [each.cost for each in asked] == [Decimal(0)] * 3
    assert [each.saved_cost is not None for each in asked] == [True, False, True]


def test_kept_result_of_an_operation_cannot_be_changed_by_its_receivers():
    vectors = [[0.5, 1.0]]
    entry = Entry(OperationResult(vectors), (), 5.0)
    kept = copied(entry)
    vectors[0][0] = 9.0
    copied(kept).answer.value[0][0] = 8.0
    assert copied(kept).answer.value == [[0.5, 1.0]]


def test_price_of_a_tool_counts_in_the_budgets_of_calls_that_a_cache_answers(call_style, cache: ResponseCache):
    @tool(price="2")
    def look(city: str) -> str:
        """Returns the weather."""
        return "rain"

    asked = ScriptedReply.tool_call("look", {"city": "Oslo"})
    inner, outer = Budget(usd=100, per="day"), Budget(usd=100, per="day")
    llm = scripted(cache, asked, "Take an umbrella.", budgets=[inner], price=Price(input=0, output=0))
    with outer:
        found = [call_style.generate(llm, "hi", tools=[look], run_tools=True) for _ in range(2)]
    assert [each.cost for each in found] == [Decimal(2)] * 2
    assert (inner.state().spent, outer.state().spent) == (4, 4)
