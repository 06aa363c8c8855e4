"""`tool_context`: calling tools in unit tests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from abstractcore import ToolCall, ToolContext, ToolProgress, ToolRetry, create_llm, tool
from abstractcore.testing import tool_context


@dataclass
class Shop:
    prices: dict[str, int]


@tool
def price(item: str, context: ToolContext[Shop]) -> int:
    """Price of an item."""
    context.progress(1, 2, "looking")
    if item not in context.deps.prices:
        raise ToolRetry(f"there is no {item}")
    context.progress(2)
    return context.deps.prices[item]


def test_tool_is_called_with_deps_and_its_progress_is_kept():
    context = tool_context(Shop({"tea": 3}))
    assert price("tea", context) == 3
    assert context.reported == [ToolProgress(context.call, 1, 2, "looking"), ToolProgress(context.call, 2)]
    with pytest.raises(ToolRetry, match="there is no milk"):
        price("milk", tool_context(Shop({})))


def test_two_contexts_share_nothing():
    one, other = tool_context(), tool_context()
    one.progress(1)
    assert (len(one.reported), other.reported) == (1, [])


def test_time_left_stands_still():
    assert tool_context().seconds_left is None
    context = tool_context(seconds_left=5)
    assert [context.seconds_left, context.seconds_left] == [5, 5]
    assert tool_context(seconds_left=0).seconds_left == 0


def test_context_has_the_call_and_the_model_that_it_is_given():
    @tool
    async def summary(text: str, context: ToolContext[Any]) -> str:
        """Summarises."""
        answer = await context.llm.agenerate(f"{context.call_id}: {text}")
        return f"{context.trace_id} {answer.content}"

    llm = create_llm("scripted", replies=["short"])
    context = tool_context(llm=llm, call=ToolCall.of("c7", "summary", {"text": "long"}), trace_id="t")
    assert asyncio.run(summary("long", context)) == "t short"
    assert llm.calls[0].messages[0].text == "c7: long"
