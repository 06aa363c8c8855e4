"""Calls of MCP tools as items of the Responses API, conversations with such items, and the tools on offer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from abstractcore import Allow, Deny, Suspend
from abstractcore.errors import InvalidInputError
from abstractcore.ports import json_text
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    ModelCall,
    OpaquePart,
    Part,
    PendingCall,
    TextPart,
    ToolCall,
    ToolStep,
)
from abstractcore.toolservers import nearest_name

from ..calls.reasoning import decode_signed_id, encode_signed_id
from ..responses.items import Item, new_id
from .servers import Listing, MCPServers, ServerTool

_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class Approval:
    """What a client has decided about a call that waited; `request` is the id of the item that asked."""

    request: str
    is_given: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools of one request. With `is_shown`, the client's API has items for their calls, and for the approval of
    calls; else it does not learn of them, and only tools are offered whose calls need none.

    `listings` are those that the client is shown, `approvals` what it has decided, by the ids of calls. `most_calls` is
    the client's own limit.
    """

    servers: MCPServers
    tools: tuple[ServerTool, ...]
    is_shown: bool
    warnings: tuple[CallWarning, ...] = ()
    listings: tuple[Listing, ...] = ()
    approvals: Mapping[str, Approval] = field(default=_NOTHING)
    most_calls: int | None = None

    def tools_by_name(self, taken: Collection[str]) -> dict[str, ServerTool]:
        """Returns the tools by the names that the model is given: one whose name is `taken`, or that two servers have,
        gets that of its server before it.
        """
        uses = Counter([*taken, *(each.tool.name for each in self.tools)])
        named: dict[str, ServerTool] = {}
        for each in self.tools:
            name = each.tool.name
            if uses[name] > 1:
                each = replace(each, tool=each.tool.renamed(f"{nearest_name(each.server)}_{name}"))
            if each.tool.name in taken or each.tool.name in named:
                raise InvalidInputError(f"two tools are named {each.tool.name!r}", path="tools")
            named[each.tool.name] = each
        return named

    def decide(self, pending: PendingCall, tools: Mapping[str, ServerTool]) -> Allow | Deny | Suspend:
        """Returns the decision about a call of one of the tools."""
        if pending.input is not None:
            return Deny("the tool asks the user a question, which clients of this server cannot be asked")
        if tools[pending.call.name].rule == "never" and pending.reason == "approval":
            return Allow()
        return Suspend() if self.is_shown else Deny("it needs an approval, for which this client has no words")


def hidden_offer(servers: MCPServers, listings: Iterable[Listing], most: int) -> ToolOffer:
    """Returns the offer for a client whose API has no words for calls that the server runs, of `most` tools."""
    found = list(listings)
    tools = [each for listing in found for each in listing.tools if each.rule == "never"]
    warnings = [warning for listing in found for warning in listing.warnings]
    if len(tools) > most:
        message = f"{len(tools) - most:,} tools of MCP servers are left out: the limit is {most} (limits.tools)"
        warnings.append(CallWarning("tool_left_out", "tools", message))
    return ToolOffer(servers, tuple(tools[:most]), False, tuple(warnings))


def names_of(call: ModelCall) -> frozenset[str]:
    """Returns the names of the tools that the client itself runs."""
    return frozenset(spec.name for spec in call.tools)


MCP_CALL, LIST_TOOLS, REQUEST = "mcp_call", "mcp_list_tools", "mcp_approval_request"
RESPONSE = "mcp_approval_response"
_NOT_RUN = ("denied", "not_run")


class ItemParts:
    """Makes the parts of a reply that a wire format `provider` writes as these items. `origin` is the model, whose
    signatures of calls come back in the ids of the items.
    """

    def __init__(
        self,
        provider: str,
        origin: str,
        tools: Mapping[str, ServerTool],
        listings: Sequence[Listing],
        approvals: Mapping[str, Approval],
    ) -> None:
        self._provider = provider
        self._origin = origin
        self._tools = tools
        self._listings = listings
        self._approvals = approvals
        self._ids: dict[str, str] = {}
        self._items: dict[str, Item] = {}
        """The items of calls without their texts, by the ids of items."""

    def begin(self) -> list[Part]:
        """Returns the list of tools of each server that the conversation has none of yet."""
        return [OpaquePart(self._provider, LIST_TOOLS, listing_item(each)) for each in self._listings]

    def started_call(self, call: ToolCall) -> HostedToolCall | None:
        """Returns a call that begins to run."""
        return None if call.name not in self._tools else self._call(call, "in_progress")

    def ended_call(self, step: ToolStep) -> tuple[HostedToolCall, HostedToolResult] | None:
        """Returns a call with its result; None for one that was not to be run."""
        call = step.call
        if call.name not in self._tools or step.outcome in _NOT_RUN:
            return None
        hosted = self._call(call, "failed" if step.result.is_error else "completed")
        return hosted, HostedToolResult(hosted.id, (TextPart(_text(step.result.content)),))

    def shown_part(self, part: Part) -> Part:
        """Returns a part, of which guards may have changed the texts, as the wire format writes it."""
        if isinstance(part, HostedToolCall) and part.id in self._items:
            item = {**self._items[part.id], "arguments": part.arguments_text}
            return replace(part, provider_metadata={self._provider: item})
        if isinstance(part, HostedToolResult) and part.call_id in self._items:
            text = _text(part.content)
            if self._items[part.call_id]["status"] == "failed":
                error = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": text}]}
                return HostedToolResult(part.call_id, (), {self._provider: {"error": error}})
            return HostedToolResult(part.call_id, (TextPart(text),), {self._provider: {"output": text}})
        return part

    def waiting_call(self, pending: PendingCall) -> ToolCall | None:
        """Returns the question about a call that waits for approval."""
        tool = self._tools.get(pending.call.name)
        if tool is None:
            return None
        arguments = {"server_label": tool.server, "name": tool.name, "arguments": _plain(pending.call.arguments_text)}
        question = ToolCall.of(self._new_id("mcpr_", pending.call), "mcp_approval", arguments)
        return ToolCall(
            question.id, question.name, question.arguments_text, provider_options={self._provider: {"type": REQUEST}}
        )

    def _call(self, call: ToolCall, status: str) -> HostedToolCall:
        tool = self._tools[call.name]
        if call.id not in self._ids:
            self._ids[call.id] = self._new_id("mcp_", call)
        id = self._ids[call.id]
        request = {"approval_request_id": self._approvals[call.id].request} if call.id in self._approvals else {}
        item = {"id": id, "type": MCP_CALL, "server_label": tool.server, "name": tool.name, "status": status}
        self._items[id] = {**item, **request}
        return HostedToolCall(id, tool.name, call.arguments_text)

    def _new_id(self, prefix: str, call: ToolCall) -> str:
        id = new_id(prefix)
        return id if call.signature is None else encode_signed_id(id, self._origin, call.signature)


def _plain(arguments: str) -> str:
    """Returns arguments without escapes that they can do without: guards are shown them as one text."""
    if "\\" not in arguments:
        return arguments
    try:
        return json_text(json.loads(arguments))
    except (ValueError, RecursionError):
        return arguments


def listing_item(listing: Listing) -> dict[str, Any]:
    """Returns the item with the tools of a server."""
    tools = [
        {
            "name": each.name,
            "description": each.tool.spec.description or None,
            "input_schema": each.tool.spec.parameters,
            "annotations": {"read_only": each.tool.spec.read_only},
        }
        for each in listing.tools
    ]
    item = {"id": new_id("mcpl_"), "type": LIST_TOOLS, "server_label": listing.server, "tools": tools}
    return item if listing.error is None else {**item, "error": listing.error}


def _text(content: Sequence[ContentPart]) -> str:
    """Returns the text of a result; the item has no place for files."""
    return "\n".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in content)


_KINDS = (MCP_CALL, LIST_TOOLS, REQUEST)
_DENIED = "not run: the call was not approved"
_NOT_AN_ITEM: Item = {}
_TEXTS = dict.fromkeys(_KINDS, ("id", "server_label")) | {RESPONSE: ("approval_request_id",)}
"""The fields by which items of these types are known again."""


class ToolConversation:
    """The items of a request, of which those of the servers `labels` are this server's own.

    Raises `InvalidInputError` for items without the texts by which they are known again and, with `is_strict`, for an
    answer to a question that is not among the items.
    """

    def __init__(self, items: Sequence[object], labels: Collection[str], *, is_strict: bool) -> None:
        self._items = [cast("Item", item) if isinstance(item, dict) else _NOT_AN_ITEM for item in items]
        self._given = items
        _check_texts(self._items)
        self._labels = labels
        self._requests = {
            item["id"]: item for item in self._items if item.get("type") == REQUEST and self._is_ours(item)
        }
        self._answers = self._read_answers(is_strict=is_strict)
        done = (item.get("approval_request_id") for item in self._items if item.get("type") == MCP_CALL)
        self._done = {id for id in done if isinstance(id, str)}

    def _is_ours(self, item: Item) -> bool:
        return item["server_label"] in self._labels

    def _read_answers(self, *, is_strict: bool) -> dict[str, tuple[int, Approval]]:
        """Returns the answers to questions, by the ids of these, with the place of each."""
        found: dict[str, tuple[int, Approval]] = {}
        for index, item in enumerate(self._items):
            if item.get("type") != RESPONSE:
                continue
            id, approve, reason = item["approval_request_id"], item.get("approve"), item.get("reason")
            path = f"input[{index}]"
            if id not in self._requests:
                if is_strict:
                    problem = "it is the id of no mcp_approval_request of this conversation"
                    raise InvalidInputError(problem, path=f"{path}.approval_request_id")
                continue
            if not isinstance(approve, bool):
                raise InvalidInputError("expected true or false", path=f"{path}.approve")
            if id in found:
                raise InvalidInputError("a second answer to the same request", path=f"{path}.approval_request_id")
            if reason is not None and not isinstance(reason, str):
                raise InvalidInputError("expected a text", path=f"{path}.reason")
            found[id] = index, Approval(id, approve, reason or "")
        return found

    @property
    def has_listing(self) -> frozenset[str]:
        """The servers whose tools the conversation lists."""
        listed = (item.get("server_label") for item in self._items if item.get("type") == LIST_TOOLS)
        return frozenset(label for label in listed if isinstance(label, str))

    @property
    def approvals(self) -> dict[str, Approval]:
        """What was decided about calls that wait, by the ids of these: answers after which the model said nothing."""
        last = max((index for index, item in enumerate(self._items) if _is_of_model(item)), default=-1)
        return {
            decode_signed_id(id)[0]: approval
            for id, (index, approval) in self._answers.items()
            if index > last and id not in self._done
        }

    def portable_items(self, names: Mapping[tuple[str, str], str]) -> list[Any]:
        """Returns the items with function calls in place of this server's own, which any model reads. A call that waits
        is one without an output. `names` are the names that the model has for tools, by server and tool.

        Raises `InvalidInputError` for a call that may run now, of a tool that is not offered.
        """
        waiting = self.approvals
        found: list[Any] = []
        for index, (given, item) in enumerate(zip(self._given, self._items, strict=True)):
            kind = item.get("type")
            if kind == RESPONSE and item["approval_request_id"] in self._requests:
                continue
            if kind not in _KINDS or not self._is_ours(item):
                found.append(given)
            elif kind == MCP_CALL:
                found += _pair(item, names, _output(item))
            elif kind == REQUEST and item["id"] not in self._done:
                if decode_signed_id(item["id"])[0] in waiting:
                    _check_offered(item, names, index)
                    found.append(_function_call(item, names))
                else:
                    found += _pair(item, names, _DENIED)
        return found


def _check_texts(items: Iterable[Item]) -> None:
    for index, item in enumerate(items):
        kind = item.get("type")
        for name in _TEXTS.get(kind, ()) if isinstance(kind, str) else ():
            if not isinstance(item.get(name), str):
                raise InvalidInputError("expected a text", path=f"input[{index}].{name}")


def _is_of_model(item: Item) -> bool:
    kind = item.get("type", "message")
    if kind == "message":
        return item.get("role") == "assistant"
    return isinstance(kind, str) and not kind.endswith(("_output", "_response"))


def _check_offered(item: Item, names: Mapping[tuple[str, str], str], index: int) -> None:
    label, name = str(item.get("server_label")), str(item.get("name"))
    if (label, name) not in names:
        problem = f"the call that was answered is of {name[:100]!r} of {label!r}, which this request does not offer"
        hint = f'Give tools=[{{"type": "mcp", "server_label": "{label}"}}] again.'
        raise InvalidInputError(problem, path=f"input[{index}]", hint=hint)


def _pair(item: Item, names: Mapping[tuple[str, str], str], output: str) -> list[Item]:
    call = _function_call(item, names)
    return [call, {"type": "function_call_output", "call_id": call["call_id"], "output": output}]


def _function_call(item: Item, names: Mapping[tuple[str, str], str]) -> Item:
    name = str(item.get("name", ""))
    return {
        "type": "function_call",
        "call_id": item.get("id"),
        "name": names.get((str(item.get("server_label")), name), name),
        "arguments": item.get("arguments"),
    }


def _output(item: Item) -> str:
    """Returns the output of a call, as the model has read it."""
    error = item.get("error")
    if error is None:
        return str(item.get("output") or "")
    content = cast("Item", error).get("content") if isinstance(error, dict) else None
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    texts = (cast("Item", each).get("text") for each in blocks if isinstance(each, dict))
    return "".join(text for text in texts if isinstance(text, str)) or "the call failed"


def names_by_tool(tools: Mapping[str, ServerTool]) -> dict[tuple[str, str], str]:
    """Returns the names that the model has for tools, by server and tool."""
    return {(each.server, each.name): name for name, each in tools.items()}
