"""Tool servers: sources that are asked for their tools before a call, in all four ways."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import (
    CallWarning,
    HostedTool,
    InvalidInputError,
    Suspend,
    Tool,
    ToolChoice,
    ToolPolicy,
    ToolServerError,
    from_json,
    to_json,
    tool,
)
from abstractcore.tools import ServedTools
from tests.core.tools.loops import Way, calls, scripted


class Clocks:
    """A tool server that notes for whom it was asked."""

    def __init__(self, name: str = "clocks", *names: str, error: Exception | None = None) -> None:
        self.name = name
        self.asked: list[object] = []
        self._names = names or ("time",)
        self._error = error

    async def served_tools(self, deps: object) -> ServedTools:
        """Returns one tool for each name."""
        self.asked.append(deps)
        if self._error is not None:
            raise self._error
        return ServedTools(tuple(self._tool(name) for name in self._names), (CallWarning("clock_slow", self.name, ""),))

    def _tool(self, name: str) -> Tool[..., Any]:
        def run() -> str:
            return f"{self.name}: {name}"

        return Tool(run, name=name, description=f"Tells the {name}.")


@tool
def date() -> str:
    """The date."""
    return "today"


def test_tools_of_servers_follow_the_others_in_order(way: Way):
    llm = scripted(calls(("time", {}), ("date", {})), "Noon.")
    first, second = Clocks("b"), Clocks("a", "zone", "alarm")
    tools = [first, HostedTool("web_search"), second, date]
    response = way.generate(llm, tools=tools, run_tools=True, deps="me", provider_options={})
    assert [spec.name for spec in llm.calls[0].tools] == ["date", "time", "zone", "alarm"]
    assert [step.result.as_text for step in response.tool_steps] == ["b: time", "today"]
    assert (first.asked, second.asked) == (["me"], ["me"])
    assert [each.path for each in response.warnings if each.code == "clock_slow"] == ["b", "a"]


def test_clashing_names_are_prefixed_by_the_server(way: Way):
    llm = scripted(calls(("a_time", {}), ("b_time", {}), ("a_date", {})), "Noon.")
    response = way.generate(llm, tools=[Clocks("a", "time", "date"), Clocks("b"), date], run_tools=True)
    assert [spec.name for spec in llm.calls[0].tools] == ["date", "a_time", "a_date", "b_time"]
    assert [step.result.as_text for step in response.tool_steps] == ["a: time", "b: time", "a: date"]
    with pytest.raises(InvalidInputError, match=r"two tools are named 'a_time'.*name of its own"):
        way.generate(scripted("x"), tools=[Clocks("a"), Clocks("a")])


def test_calls_are_returned_without_run_tools(way: Way):
    response = way.generate(scripted(calls(("time", {}))), tools=[Clocks()])
    assert [call.name for call in response.tool_calls] == ["time"]


def test_failure_of_a_server_ends_the_call(way: Way):
    with pytest.raises(ToolServerError, match="no clock"):
        way.generate(scripted("x"), tools=[Clocks(error=ToolServerError("no clock"))])


def test_choice_limits_and_reserved_names_are_checked_when_the_tools_are_known(way: Way):
    with pytest.raises(InvalidInputError, match="the call has no tool 'tine'"):
        way.generate(scripted("x"), tools=[Clocks()], tool_choice=ToolChoice("tool", "tine"))
    with pytest.raises(InvalidInputError, match="the call has no tool 'tine'"):
        way.generate(scripted("x"), tools=[Clocks()], run_tools=ToolPolicy(max_uses={"tine": 1}))
    with pytest.raises(InvalidInputError, match="tool of the loop itself"):
        way.generate(scripted("x"), tools=[Clocks("a", "read_result")], run_tools=True)
    choice = ToolChoice("tool", "time")
    assert way.generate(scripted("x"), tools=[Clocks()], tool_choice=choice).content == "x"


def test_suspended_call_of_a_served_tool_goes_on_with_the_server(way: Way):
    policy = ToolPolicy(approve=lambda pending: Suspend())
    response = way.generate(scripted(calls(("time", {}))), tools=[Clocks()], run_tools=policy)
    loop = from_json(to_json(response.loop))
    allowed = [loop.pending[0].allow()]
    done = way.resume(scripted("Noon."), loop, allowed, tools=[Clocks()])
    assert [step.result.as_text for step in done.tool_steps] == ["clocks: time"]
    with pytest.raises(InvalidInputError, match="'time' cannot be run here"):
        way.resume(scripted("Noon."), loop, allowed, tools=[Clocks("clocks", "zone")])


def test_build_has_the_tools_of_servers():
    llm = scripted()
    assert [spec.name for spec in llm.build("Go.", tools=[Clocks()]).tools] == ["time"]
