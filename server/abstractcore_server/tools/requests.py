"""The tools that the server runs in a request: how they are asked for, or attached to a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import jiter

from abstractcore.errors import AccessDeniedError, InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names

from ..calls.jobs import AnswerJob
from ..dialects.base import count_at
from ..failures import refusal
from ..responses.items import Item, compact
from .items import ToolConversation, ToolOffer, hidden_offer, names_by_tool
from .servers import Listing, MCPServers, ServerTool

_ELSEWHERE = ("server_url", "connector_id", "tunnel_id")
"""Fields of servers that the vendor connects to."""
_REFUSED = ("authorization", "headers")
_IGNORED = ("server_description", "defer_loading", "allowed_callers")
_KNOWN = frozenset({"type", "server_label", "allowed_tools", "require_approval", *_REFUSED, *_IGNORED})


@dataclass(frozen=True, slots=True)
class RequestedServer:
    """The tools of one server that a request asks for. `allows` and `needs_approval` take a tool."""

    label: str
    allows: Callable[[ServerTool], bool]
    needs_approval: Callable[[ServerTool], bool]

    def choose(self, listing: Listing) -> Listing:
        """Returns the tools that are wanted, with the stricter of both rules."""
        kept = (each for each in listing.tools if self.allows(each))
        tools = (replace(each, rule="always") if self.needs_approval(each) else each for each in kept)
        return replace(listing, tools=tuple(tools))


def is_ours(tool: object) -> bool:
    """Whether a tool of a request is an MCP server of this server: one without an address."""
    return _is_mcp(tool) and not any(cast("Item", tool).get(name) for name in _ELSEWHERE)


def uses_tools(data: Mapping[str, Any]) -> bool:
    """Whether a request of the Responses API asks for tools that this server runs."""
    tools = data.get("tools")
    return isinstance(tools, list) and any(map(is_ours, cast("list[object]", tools)))


def refuse_addresses(tools: Sequence[object], ours: Collection[str], *, are_allowed: bool) -> None:
    """Raises `RequestRefused` for an MCP server at an address that the client names, unless they `are_allowed` since
    the vendor connects to it, and its label is none of `ours`: this server connects to those of its own configuration.
    """
    for index, tool in enumerate(tools):
        if not _is_mcp(tool) or is_ours(tool):
            continue
        given = cast("Item", tool)
        name = next(name for name in _ELSEWHERE if given.get(name))
        if not are_allowed:
            message = "this server connects to MCP servers of its own configuration only: name one by its server_label"
            raise refusal(400, message, path=f"tools[{index}].{name}")
        if str(given.get("server_label")) in ours:
            message = f"a server of the configuration has this label: give another one, or leave out {name}"
            raise refusal(400, message, path=f"tools[{index}].server_label")


def _is_mcp(tool: object) -> bool:
    return isinstance(tool, dict) and cast("Item", tool).get("type") == "mcp"


def read_wanted(tools: Sequence[Any], known: Collection[str]) -> list[RequestedServer]:
    """Returns which tools of the servers `known`, which the client may use, a request asks for.

    Raises `InvalidInputError` with the path of what is wrong, `AccessDeniedError` for another server.
    """
    wanted: dict[str, RequestedServer] = {}
    for index, tool in enumerate(tools):
        if is_ours(tool):
            path = f"tools[{index}]"
            label = _label(tool, known, path)
            if label in wanted:
                raise InvalidInputError("another tool has the same server_label", path=f"{path}.server_label")
            allows = _filter(tool.get("allowed_tools"), f"{path}.allowed_tools")
            wanted[label] = RequestedServer(
                label, allows, _approval(tool.get("require_approval"), f"{path}.require_approval")
            )
    return list(wanted.values())


def _label(tool: Item, known: Collection[str], path: str) -> str:
    for name in tool:
        if name in _REFUSED and tool[name]:
            raise InvalidInputError("the server sends its own, from its configuration", path=f"{path}.{name}")
        if name not in _KNOWN and tool[name] is not None:
            raise InvalidInputError("there is no such field", path=f"{path}.{name[:100]}")
    label = tool.get("server_label")
    if not isinstance(label, str):
        raise InvalidInputError("expected a text", path=f"{path}.server_label")
    if label not in known:
        near = nearest_names(label[:100], known)
        hint = did_you_mean(near) if near else "Without server_url it is the name of a server of [mcp.NAME] here."
        problem = f"there is no MCP server {label[:100]!r} for this key and model. {hint}"
        raise AccessDeniedError(f"{path}.server_label: {problem}")
    return label


def _filter(value: object, path: str) -> Callable[[ServerTool], bool]:
    """Returns whether a tool is among those of a list of names, or of an object with `tool_names` and `read_only`."""
    if value is None:
        return lambda tool: True
    is_list = isinstance(value, list)
    given: Item = {"tool_names": cast("Any", value)} if is_list else _object(value, path, ("tool_names", "read_only"))
    read_only = given.get("read_only")
    if read_only is not None and not isinstance(read_only, bool):
        raise InvalidInputError("expected true or false", path=f"{path}.read_only")
    names = _names(given.get("tool_names"), path)
    return lambda tool: (names is None or tool.name in names) and read_only in (None, tool.tool.spec.read_only)


def _names(value: object, path: str) -> Sequence[object] | None:
    if value is None:
        return None
    if isinstance(value, list):
        names = cast("list[object]", value)
        if all(isinstance(name, str) for name in names):
            return names
    raise InvalidInputError("expected a list of names of tools", path=path)


def _approval(value: object, path: str) -> Callable[[ServerTool], bool]:
    """Returns whether calls of a tool need approval, as the client says: beside the rules of the configuration, which
    it cannot relax.
    """
    if value is None or value == "never":
        return lambda tool: False
    if value == "always":
        return lambda tool: True
    if isinstance(value, str):
        raise InvalidInputError("expected 'always', 'never' or an object", path=path)
    given = _object(value, path, ("always", "never"))
    always = _filter(given["always"], f"{path}.always") if given.get("always") is not None else None
    never = _filter(given["never"], f"{path}.never") if given.get("never") is not None else None
    return lambda tool: (always is not None and always(tool)) or (never is not None and not never(tool))


def _object(value: object, path: str, names: Collection[str]) -> Item:
    if not isinstance(value, dict):
        raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=path)
    given = cast("Item", value)
    for name in given:
        if name not in names:
            raise InvalidInputError(f"expected {' or '.join(names)}", path=f"{path}.{name[:100]}")
    return given


async def shown_offer(
    servers: MCPServers,
    wanted: Sequence[RequestedServer],
    conversation: ToolConversation,
    most: int,
    most_calls: int | None,
) -> ToolOffer:
    """Returns the offer for what a request wants, of at most `most` tools. Raises `RequestRefused` for more, and for a
    server that cannot be reached.
    """
    listed = await servers.listings([each.label for each in wanted])
    chosen = [each.choose(listing) for each, listing in zip(wanted, listed, strict=True)]
    tools = tuple(tool for listing in chosen for tool in listing.tools)
    if len(tools) > most:
        message = f"{len(tools):,} tools of MCP servers are too many, the limit is {most}: choose some"
        raise refusal(400, message, path="tools.allowed_tools")
    new = tuple(listing for listing in chosen if listing.server not in conversation.has_listing)
    warnings = tuple(warning for listing in chosen for warning in listing.warnings)
    return ToolOffer(servers, tools, True, warnings, new, conversation.approvals, most_calls)


_MOST = "max_tool_calls"
_MARK = b'"mcp'
"""Is in the items of MCP servers, as they were stored."""


async def with_attached_tools(job: AnswerJob) -> AnswerJob:
    """Returns the job with the tools that its model gets in every API."""
    state = job.context.state
    names = state.mcp.attached_to(job.context.grant, job.resolved.names)
    if not names:
        return job
    offer = hidden_offer(state.mcp, await state.mcp.listings(names), state.settings.limits.tools)
    return replace(job, offer=offer)


async def with_requested_tools(job: AnswerJob) -> AnswerJob:
    """Returns the job of a request of the Responses API with the tools that it asks for, and without the items of their
    calls, which no provider has.
    """
    client_request, servers = job.client_request, job.context.state.settings.mcp
    if _MARK not in client_request.wire.body and not uses_tools(client_request.data):
        return job
    body: dict[str, Any] = await job.off_loop(jiter.from_json, client_request.wire.body)
    tools, items = _list_at(body, "tools"), _list_at(body, "input")
    refuse_addresses(tools, servers, are_allowed=job.has_own_format)
    is_used = uses_tools(body)
    conversation = await job.off_loop(partial(ToolConversation, items, servers, is_strict=is_used))
    offer = await _offer(job, conversation, tools) if is_used else None
    names = {} if offer is None else names_by_tool(offer.tools_by_name(_names_of_functions(tools)))
    if items:
        body["input"] = await job.off_loop(conversation.portable_items, names)
    if offer is not None:
        body = _without_ours(body)
        body |= {"store": False, "tool_choice": _tool_choice(body.get("tool_choice"), names)}
    wire = replace(client_request.wire, body=await job.off_loop(compact, body))
    return replace(job, client_request=replace(client_request, wire=wire, is_changed=True), offer=offer)


def without_requested_tools(job: AnswerJob) -> AnswerJob:
    """Returns the job of a request of the Responses API without the MCP servers that it asks for, which are not asked
    for their tools. Raises as `with_requested_tools` does for a server that the client may not use.
    """
    client_request, context = job.client_request, job.context
    tools = _list_at(client_request.data, "tools")
    refuse_addresses(tools, context.state.settings.mcp, are_allowed=job.has_own_format)
    if not uses_tools(client_request.data):
        return job
    read_wanted(tools, context.state.mcp.names_for(context.grant, job.resolved.names))
    body: dict[str, Any] = jiter.from_json(client_request.wire.body)
    body = _without_ours(body)
    body.pop("tool_choice", None)
    return replace(
        job,
        client_request=replace(client_request, wire=replace(client_request.wire, body=compact(body)), is_changed=True),
    )


def _without_ours(body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request without the MCP servers of this server, and how many of their tools may be called."""
    rest = {name: value for name, value in body.items() if name not in ("tools", _MOST)}
    tools = [tool for tool in body["tools"] if not is_ours(tool)]
    return {**rest, "tools": tools} if tools else rest


async def _offer(job: AnswerJob, conversation: ToolConversation, tools: list[Any]) -> ToolOffer:
    context, data = job.context, job.client_request.data
    servers, most = context.state.mcp, context.state.settings.limits.tools
    wanted = read_wanted(tools, servers.names_for(context.grant, job.resolved.names))
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
