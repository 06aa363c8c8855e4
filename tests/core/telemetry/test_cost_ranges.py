"""What a call may cost, before it is made."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from abstractcore import CostRange, Price, ToolPolicy, Usage, create_llm, tool
from abstractcore.ports import BilledResponse

CLAUDE = "anthropic/claude-opus-4-5"


def planned(prompt: str = "word " * 2000, **request: Any):
    llm = create_llm(CLAUDE, api_key="none")
    return llm, llm.plan(prompt, **request)


def dollars(llm: Any, **usage: int) -> Decimal:
    return llm._pipelines.pricing.charge(BilledResponse(Usage(**usage), llm.model)).dollars


def test_range_is_from_cached_input_alone_to_the_longest_answer():
    llm, plan = planned(max_output_tokens=100)
    tokens = plan.estimated_input_tokens
    assert tokens == pytest.approx(2000, rel=0.5)
    least, most = int(tokens / 1.5), -(-tokens * 3 // 2)
    assert plan.estimated_cost == CostRange(
        dollars(llm, input=least, output=0, cached=least), dollars(llm, input=most, output=100, cache_written=most)
    )
    assert isinstance(plan.estimated_cost.low, Decimal)
    assert dollars(llm, input=2000, output=50) > plan.estimated_cost.low > 0
    assert dollars(llm, input=2000, output=50) < plan.estimated_cost.high


def test_longer_answers_and_longer_inputs_may_cost_more():
    costs = [planned(max_output_tokens=most)[1].estimated_cost.high for most in (10, 100, 1000)]
    assert costs == sorted(set(costs))
    unlimited = planned()[1].estimated_cost
    assert unlimited.high > costs[-1], "the longest answer of the model"
    assert planned(prompt="word " * 9000)[1].estimated_cost.low > unlimited.low


def test_unknown_prices_have_no_range():
    plan = unknown().plan("hi")
    assert plan.estimated_cost is None
    assert plan.estimated_input_tokens > 0


def unknown(**options: Any):
    return create_llm("openai-compatible/m", base_url="http://127.0.0.1:1/v1", **options)


def test_answer_without_a_limit_has_no_highest_cost():
    price = Price(input="1", output="2")
    assert unknown(price=price).plan("hi").estimated_cost.high is None
    assert unknown(price=price, facts={"context_tokens": 4096}).plan("hi").estimated_cost.high > 0
    assert unknown(price=price, max_output_tokens=9).plan("hi").estimated_cost.high > 0


def test_model_on_this_machine_costs_nothing():
    assert create_llm("local").plan("hi").estimated_cost == CostRange(Decimal(0), Decimal(0))


def test_first_request_of_a_tool_loop_is_estimated_with_its_tools():
    @tool
    def look(place: str) -> str:
        """Looks at a place."""
        return place

    llm = create_llm(CLAUDE, api_key="none")
    plain, looped = llm.plan("hi"), llm.plan("hi", tools=[look], run_tools=ToolPolicy())
    assert looped.estimated_input_tokens > plain.estimated_input_tokens + 20
    assert looped.estimated_cost.low > plain.estimated_cost.low
