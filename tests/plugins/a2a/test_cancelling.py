"""A call that ends early cancels the agent's task."""

from __future__ import annotations

import asyncio

import pytest

from abstracta2a import A2AAgent
from abstractcore import ToolProgress
from tests.core.tools.loops import Way, calls, scripted
from tests.plugins.a2a.agents import PATIENCE_SECONDS, Helper, helper_app, helper_card, served
from tests.plugins.a2a.talk import TOOL, asked, limited

LIMITS_SECONDS = [0.3, 1.0, 4.0, 16.0, 64.0]
"""The first is enough on most machines for the agent to begin its task, and to say its id."""


def cancelled_in_time(way: Way, helper: Helper, agent: A2AAgent, seconds: float) -> bool:
    """Whether the agent was asked to cancel the task of a call with a time limit."""
    assert asked(way, agent, "hang", run_tools=limited(seconds)).outcome == "timed_out"
    return helper.cancelled.wait(1.0 + seconds)


@pytest.mark.parametrize("streaming", [True, False])
def test_time_limit_of_a_call_cancels_the_task(one_of_two_ways: Way, streaming: bool):
    helper = Helper()
    with served(lambda url: helper_app(helper_card(url, streaming=streaming), helper)) as url:
        agent = A2AAgent(url)
        assert any(cancelled_in_time(one_of_two_ways, helper, agent, seconds) for seconds in LIMITS_SECONDS)


def test_time_limit_of_the_agent_precedes_that_of_the_policy():
    with served(lambda url: helper_app(helper_card(url), Helper())) as url, Way.of("sync-whole") as way:
        step = asked(way, A2AAgent(url, timeout=0.1), "hang", run_tools=limited(PATIENCE_SECONDS))
        assert step.outcome == "timed_out"


@pytest.mark.parametrize("streaming", [True, False])
def test_cancelled_caller_cancels_the_task(streaming: bool):
    helper = Helper()

    async def cancel_while_it_runs(agent: A2AAgent) -> None:
        has_begun = asyncio.Event()

        async def call() -> None:
            llm = scripted(calls((TOOL, {"message": "hang"})), "Done.")
            async with llm.astream("x", tools=[agent], run_tools=True) as stream:
                async for event in stream:
                    if isinstance(event, ToolProgress):
                        has_begun.set()

        running = asyncio.create_task(call())
        await asyncio.wait_for(has_begun.wait(), PATIENCE_SECONDS)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with served(lambda url: helper_app(helper_card(url, streaming=streaming), helper)) as url:
        asyncio.run(cancel_while_it_runs(A2AAgent(url)))
        assert helper.cancelled.wait(PATIENCE_SECONDS)
