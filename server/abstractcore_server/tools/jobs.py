"""The tools that the server runs in a request: those that a client of the Responses API asks for, and those that the
configuration attaches to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import jiter

from abstractcore.errors import InvalidInputError

from ..dialects.base import count_at
from ..dialects.response_fields import compact
from ..items import Item
from ..jobs import Job
from .conversations import Conversation, names_by_tool
from .offers import Offer, hidden_offer
from .requests import is_ours, read_wanted, refuse_addresses, shown_offer, uses_tools

_MOST = "max_tool_calls"
_MARK = b'"mcp'
"""Is in the items of MCP servers, as they were stored."""


async def with_attached_tools(job: Job) -> Job:
    """Returns the job with the tools that its model gets in every API."""
    state = job.exchange.state
    names = state.mcp.attached_to(job.exchange.grant, job.served.names)
    if not names:
        return job
    offer = hidden_offer(state.mcp, await state.mcp.listings(names), state.settings.limits.tools)
    return replace(job, offer=offer)


async def with_requested_tools(job: Job) -> Job:
    """Returns the job of a request of the Responses API with the tools that it asks for, and without the items of their
    calls, which no provider has.
    """
    asked, servers = job.asked, job.exchange.state.settings.mcp
    if _MARK not in asked.wire.body and not uses_tools(asked.data):
        return job
    body: dict[str, Any] = await job.off_loop(jiter.from_json, asked.wire.body)
    tools, items = _list_at(body, "tools"), _list_at(body, "input")
    refuse_addresses(tools, servers, are_allowed=job.has_own_format)
    is_used = uses_tools(body)
    conversation = await job.off_loop(partial(Conversation, items, servers, is_strict=is_used))
    offer = await _offer(job, conversation, tools) if is_used else None
    names = {} if offer is None else names_by_tool(offer.named(_names_of_functions(tools)))
    if items:
        body["input"] = await job.off_loop(conversation.written, names)
    if offer is not None:
        body = _without_ours(body)
        body |= {"store": False, "tool_choice": _tool_choice(body.get("tool_choice"), names)}
    wire = replace(asked.wire, body=await job.off_loop(compact, body))
    return replace(job, asked=replace(asked, wire=wire, is_changed=True), offer=offer)


def without_requested_tools(job: Job) -> Job:
    """Returns the job of a request of the Responses API without the MCP servers that it asks for, which are not asked
    for their tools. Raises as `with_requested_tools` does for a server that the client may not use.
    """
    asked, exchange = job.asked, job.exchange
    tools = _list_at(asked.data, "tools")
    refuse_addresses(tools, exchange.state.settings.mcp, are_allowed=job.has_own_format)
    if not uses_tools(asked.data):
        return job
    read_wanted(tools, exchange.state.mcp.names_for(exchange.grant, job.served.names))
    body: dict[str, Any] = jiter.from_json(asked.wire.body)
    body = _without_ours(body)
    body.pop("tool_choice", None)
    return replace(job, asked=replace(asked, wire=replace(asked.wire, body=compact(body)), is_changed=True))


def _without_ours(body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request without the MCP servers of this server, and how many of their tools may be called."""
    rest = {name: value for name, value in body.items() if name not in ("tools", _MOST)}
    tools = [tool for tool in body["tools"] if not is_ours(tool)]
    return {**rest, "tools": tools} if tools else rest


async def _offer(job: Job, conversation: Conversation, tools: list[Any]) -> Offer:
    exchange, data = job.exchange, job.asked.data
    servers, most = exchange.state.mcp, exchange.state.settings.limits.tools
    wanted = read_wanted(tools, servers.names_for(exchange.grant, job.served.names))
    calls = None if data.get(_MOST) is None else count_at(data, _MOST)
    return await shown_offer(servers, wanted, conversation, most, calls)


def _list_at(data: Mapping[str, Any], name: str) -> list[Any]:
    """Returns the list at `name`; an empty one for anything else, which the wire format reads or refuses."""
    value = data.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _names_of_functions(tools: list[Any]) -> set[str]:
    """Returns the names of the functions among the tools of a request, which the client runs."""
    objects = (cast("Item", tool) for tool in tools if isinstance(tool, dict))
    names = (tool.get("name") for tool in objects if tool.get("type") == "function")
    return {name for name in names if isinstance(name, str)}


def _tool_choice(value: Any, names: Mapping[tuple[str, str], str]) -> Any:
    """Returns the choice of a server's tool as that of a function, or of any; raises `InvalidInputError` for a tool
    that is not offered.
    """
    if not isinstance(value, dict) or cast("Item", value).get("type") != "mcp":
        return cast("Any", value)
    choice = cast("Item", value)
    name = choice.get("name")
    if name is None:
        return "required"
    found = names.get((str(choice.get("server_label")), str(name)))
    if found is None:
        raise InvalidInputError("the request does not offer this tool", path="tool_choice.name")
    return {"type": "function", "name": found}
