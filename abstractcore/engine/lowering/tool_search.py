"""Decides where the deferred tools of a call are searched: by the provider, or in this program."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...ports import ModelProfile
from ...schema import CallWarning, HostedTool, ModelCall, ToolSearch
from ...tools.search import SEARCH_TOOLS, given_tools
from .changes import change_warning
from .tools import prompt_format

_HOSTED = HostedTool("tool_search")


class SearchLowered(NamedTuple):
    """A call whose deferred tools are those that the provider searches, and where they are searched."""

    call: ModelCall
    tool_search: ToolSearch | None
    warnings: list[CallWarning]


def lower_tool_search(call: ModelCall, profile: ModelProfile) -> SearchLowered:
    """Returns the call with the hosted tool `tool_search` beside its deferred tools, or without deferred tools.

    The provider searches if the call has that hosted tool, or the profile says that it can and `call.tool_search` is
    not "client". Otherwise the model is given `search_tools`, if the call has it: a loop adds it to run its calls.
    Without a loop nobody can search here, and all tools are sent, with a warning.
    """
    requested = call.tool_search
    if requested is not None:
        call = call.with_(tool_search=None)
    if not any(tool.defer for tool in call.tools):
        return SearchLowered(call, None, [])
    why_not = _why_not_hosted(call, requested, profile)
    if why_not is None:
        return SearchLowered(_hosted(call), "hosted", [])
    warnings: list[CallWarning] = []
    if requested == "hosted":
        warnings.append(change_warning("tool_search_changed", "tool_search", why_not, "hosted", "client"))
    if SEARCH_TOOLS in call.tools:
        choice = call.tool_choice
        tools = given_tools(call.tools, call.messages, None if choice is None else choice.tool)
        return SearchLowered(call.with_(tools=tools), "client", warnings)
    message = "deferred tools are sent as others are: without run_tools, nobody runs a search for them"
    warnings.append(CallWarning("tools_not_deferred", "tools", message))
    return SearchLowered(call.with_(tools=tuple(replace(tool, defer=False) for tool in call.tools)), None, warnings)


def _why_not_hosted(call: ModelCall, requested: ToolSearch | None, profile: ModelProfile) -> str | None:
    """Returns why the provider cannot or must not search; None if it does."""
    if any(tool.kind == _HOSTED.kind for tool in call.hosted_tools):
        return None
    if requested == "client":
        return "the call says so"
    if profile.tool_search is not True:
        return f"{call.model} is not known to have a tool search at the provider {call.provider!r}"
    if prompt_format(call, profile) is not None:
        return f"the tools of {call.model} are described in a system message"
    if call.tool_choice is not None and call.tool_choice.tool == SEARCH_TOOLS.name:
        return f"the tool choice forces a call of {SEARCH_TOOLS.name!r}"
    return None


def _hosted(call: ModelCall) -> ModelCall:
    """Returns the call for a provider that searches. A tool that the model must call is not deferred."""
    chosen = None if call.tool_choice is None else call.tool_choice.tool
    tools = (replace(tool, defer=False) if tool.name == chosen else tool for tool in call.tools if tool != SEARCH_TOOLS)
    given = any(tool.kind == _HOSTED.kind for tool in call.hosted_tools)
    hosted = call.hosted_tools if given else (*call.hosted_tools, _HOSTED)
    return call.with_(tools=tuple(tools), hosted_tools=hosted)
