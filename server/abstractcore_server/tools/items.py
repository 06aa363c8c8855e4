"""The calls of tools that the server runs as items of the Responses API: `mcp_list_tools`, `mcp_call`,
`mcp_approval_request` (https://developers.openai.com/api/docs/guides/tools-connectors-mcp).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from abstractcore.ports import json_text
from abstractcore.schema import (
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    PendingCall,
    TextPart,
    ToolCall,
    ToolStep,
)

from ..items import Item, new_id
from ..reasoning import sealed_id
from .offers import Approval
from .servers import Listing, ServedTool

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
        tools: Mapping[str, ServedTool],
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

    def started(self, call: ToolCall) -> HostedToolCall | None:
        """Returns a call that begins to run."""
        return None if call.name not in self._tools else self._call(call, "in_progress")

    def ended(self, step: ToolStep) -> tuple[HostedToolCall, HostedToolResult] | None:
        """Returns a call with its result; None for one that was not to be run."""
        call = step.call
        if call.name not in self._tools or step.outcome in _NOT_RUN:
            return None
        hosted = self._call(call, "failed" if step.result.is_error else "completed")
        return hosted, HostedToolResult(hosted.id, (TextPart(_text(step.result.content)),))

    def shown(self, part: Part) -> Part:
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

    def waiting(self, pending: PendingCall) -> ToolCall | None:
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
        return id if call.signature is None else sealed_id(id, self._origin, call.signature)


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
