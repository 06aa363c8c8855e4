"""Calls of an agent in tool loops."""

from __future__ import annotations

from typing import Any

from abstracta2a import A2AAgent
from abstractcore import ToolPolicy, ToolStep
from tests.core.tools.loops import Way, calls, scripted

TOOL = "Helper_Agent"


def begun(way: Way, agent: A2AAgent, *messages: str, tool: str = TOOL, **request: Any) -> Any:
    """The response to a loop of one round, in which the agent is sent the messages."""
    first = calls(*[(tool, {"message": message}) for message in messages])
    return way.generate(scripted(first, "Done."), tools=[agent], **{"run_tools": True, **request})


def asked(way: Way, agent: A2AAgent, message: str, *, tool: str = TOOL, **request: Any) -> ToolStep:
    """The step of a call with the message, in a loop that ended well."""
    response = begun(way, agent, message, tool=tool, **request)
    assert response.content == "Done."
    [step] = response.tool_steps
    return step


def limited(seconds: float) -> ToolPolicy:
    """A policy with a time limit for calls."""
    return ToolPolicy(timeout=seconds)
