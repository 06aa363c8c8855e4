"""Renders deltas as `response.*` events (server side)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    Delta,
    HostedToolCall,
    HostedToolResult,
    JSONObject,
    OpaquePart,
    Part,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    accumulate,
)

from ...common.call_options import fields_for
from ...common.openai_errors import error_words
from ...common.reading import Object, as_object, text_of
from .client_tools import ClientToolItem, as_sent, called_tool, client_item
from .items import MCP_CALL, item_type, opaque_item, write_hosted
from .output import Shown, output_item, output_text, shown
from .render import response_head, response_object

_LIST_TOOLS = "mcp_list_tools"
_CUSTOM_CALL = "custom_tool_call"


@dataclass(slots=True)
class _RenderedItem:
    """An item that is being sent: its part is empty so far, and its text is streamed in chunks."""

    number: int
    part: Shown
    fields: JSONObject
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def item(self, part: Shown) -> Object:
        return {**output_item(part, self.number), **self.fields}


class ResponsesRenderer:
    """Renders one stream. Its last event has the whole response, so all parts are kept until then."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._deltas: list[Delta] = []
        self._sequence = 0
        self._items = 0
        self._blocks: dict[int, _RenderedItem] = {}
        self._fields: dict[int, JSONObject] = {}
        self._actions: dict[int, _RenderedItem] = {}
        """Calls of built-in tools, whose items are sent complete."""
        self._held: HostedToolCall | None = None
        self._mcp_calls: dict[str, tuple[int, HostedToolCall]] = {}
        """Calls of MCP servers that run, with the numbers of their items, by their ids."""

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of one delta; empty for those without a counterpart."""
        self._deltas.append(delta)
        if isinstance(delta, TextDelta) and delta.text:
            begin = b"" if delta.block in self._blocks else self._begin(delta.block, TextPart(""))
            return begin + self._text(delta)
        return self._release(delta) + self._rare(delta)

    def finish(self) -> bytes:
        """Returns the whole response."""
        ends = b"".join(self._end(block, None, None) for block in list(self._blocks)) + self._release(None)
        ends += b"".join(self._mcp_ended(id, None) for id in list(self._mcp_calls))
        response = response_object(accumulate(self._deltas), self._provider, [])
        return ends + self._event(f"response.{response['status']}", response=response)

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return self._event("error", **error_words(error))

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, ReasoningDelta) and delta.text:
            begin = b"" if delta.block in self._blocks else self._begin(delta.block, ReasoningPart())
            return begin + self._thought(delta)
        if isinstance(delta, TextStart):
            self._fields[delta.block] = fields_for(delta, self._provider)
        if isinstance(delta, ToolCallStart):
            return self._call(delta)
        if isinstance(delta, ToolCallDelta):
            return self._arguments(delta)
        if isinstance(delta, TextEnd | ToolCallEnd | ReasoningEnd):
            return self._ended(delta)
        if isinstance(delta, ReplyStart):
            head = response_head(delta.id, delta.model)
            return self._event("response.created", response=head) + self._event("response.in_progress", response=head)
        if isinstance(delta, PartDelta):
            return self._whole(delta.part)
        return b""

    def _call(self, delta: ToolCallStart) -> bytes:
        call = ToolCall(delta.id, delta.name, "", provider_options=delta.provider_options)
        fields = fields_for(call, self._provider)
        if called_tool(call, self._provider) is not None:
            self._actions[delta.block] = _RenderedItem(-1, call, {})
            return b""
        self._fields[delta.block] = fields
        return self._begin(delta.block, ToolCall(delta.id, delta.name, ""))

    def _begin(self, number: int, part: Shown) -> bytes:
        block = self._blocks[number] = _RenderedItem(self._items, part, self._fields.pop(number, {}))
        self._items += 1
        item = block.item(part)
        if isinstance(part, ReasoningPart):
            added = self._event("response.output_item.added", output_index=block.number, item=item)
            return added + self._event(
                "response.reasoning_summary_part.added",
                **self._position(block, summary_index=0),
                part={"type": "summary_text", "text": ""},
            )
        item["status"] = "in_progress"
        if isinstance(part, ToolCall):
            return self._event("response.output_item.added", output_index=block.number, item=item)
        added = self._event("response.output_item.added", output_index=block.number, item={**item, "content": []})
        position = self._position(block, content_index=0)
        return added + self._event("response.content_part.added", **position, part=output_text(part))

    def _text(self, delta: TextDelta) -> bytes:
        block = self._blocks[delta.block]
        block.pieces.append(delta.text)
        position = self._position(block, content_index=0)
        return self._event("response.output_text.delta", **position, delta=delta.text, logprobs=[])

    def _thought(self, delta: ReasoningDelta) -> bytes:
        block = self._blocks[delta.block]
        block.pieces.append(delta.text)
        position = self._position(block, summary_index=0)
        return self._event("response.reasoning_summary_text.delta", **position, delta=delta.text)

    def _arguments(self, delta: ToolCallDelta) -> bytes:
        if delta.block in self._actions:
            self._actions[delta.block].pieces.append(delta.arguments_text)
            return b""
        block = self._blocks[delta.block]
        block.pieces.append(delta.arguments_text)
        return self._event(
            "response.function_call_arguments.delta", **self._position(block), delta=delta.arguments_text
        )

    def _ended(self, delta: TextEnd | ToolCallEnd | ReasoningEnd) -> bytes:
        if isinstance(delta, ToolCallEnd):
            action = self._actions.pop(delta.block, None)
            return self._end(delta.block, None, None) if action is None else self._action(action)
        if isinstance(delta, TextEnd):
            return self._end(delta.block, delta, None)
        begin = b""
        if delta.block not in self._blocks and (delta.signature or delta.redacted_data):
            begin = self._begin(delta.block, ReasoningPart())
        return begin + self._end(delta.block, None, delta)

    def _end(self, number: int, text_end: TextEnd | None, reasoning_end: ReasoningEnd | None) -> bytes:
        """Returns the end of a block, if it was started."""
        block = self._blocks.pop(number, None)
        if block is None:
            return b""
        part = block.part
        if isinstance(part, TextPart):
            part = shown(TextPart(block.text, text_end.citations if text_end else ()), "", self._provider, [])
        elif isinstance(part, ToolCall):
            part = replace(part, arguments_text=block.text)
        elif reasoning_end is not None:
            part = ReasoningPart(block.text, reasoning_end.signature, reasoning_end.redacted_data)
        else:
            part = ReasoningPart(block.text)
        return self._details(block, part) + self._event(
            "response.output_item.done", output_index=block.number, item=block.item(part)
        )

    def _action(self, block: _RenderedItem) -> bytes:
        call = replace(cast(ToolCall, block.part), arguments_text=block.text)
        tool = cast(ClientToolItem, called_tool(call, self._provider))
        item = client_item(as_sent(call, tool), self._provider, self._items)
        if item is None:
            return b""
        return self._input(item) if item["type"] == _CUSTOM_CALL else self._item(item)

    def _input(self, item: Object) -> bytes:
        """Returns the events of a call of a custom tool, whose input is a text."""
        number = self._items
        self._items += 1
        position = {"item_id": item["id"], "output_index": number}
        return b"".join(
            (
                self._event("response.output_item.added", output_index=number, item={**item, "input": ""}),
                self._event("response.custom_tool_call_input.delta", **position, delta=item["input"]),
                self._event("response.custom_tool_call_input.done", **position, input=item["input"]),
                self._event("response.output_item.done", output_index=number, item=item),
            )
        )

    def _details(self, block: _RenderedItem, part: Shown) -> bytes:
        """Returns the events that end the content of an item."""
        if isinstance(part, ToolCall):
            fields: Object = {"name": part.name, "arguments": part.arguments_text}
            return self._event("response.function_call_arguments.done", **self._position(block), **fields)
        if isinstance(part, ReasoningPart):
            position = self._position(block, summary_index=0)
            summary = {"type": "summary_text", "text": part.text}
            done = self._event("response.reasoning_summary_text.done", **position, text=part.text)
            return done + self._event("response.reasoning_summary_part.done", **position, part=summary)
        position, content = self._position(block, content_index=0), output_text(part)
        notes = b"".join(
            self._event("response.output_text.annotation.added", **position, annotation_index=i, annotation=note)
            for i, note in enumerate(content["annotations"])
        )
        done = self._event("response.output_text.done", **position, text=part.text, logprobs=[])
        return notes + done + self._event("response.content_part.done", **position, part=content)

    def _whole(self, part: Part) -> bytes:
        """Returns a complete part: an item of the provider's own."""
        if isinstance(part, HostedToolCall) and item_type(part, self._provider) == MCP_CALL:
            return self._mcp_began(part)
        if isinstance(part, HostedToolResult) and part.call_id in self._mcp_calls:
            return self._mcp_ended(part.call_id, part)
        if isinstance(part, HostedToolCall):
            self._held = part
        elif isinstance(part, OpaquePart) and part.provider == self._provider:
            # The output of a shell that the provider ran follows its call.
            item = opaque_item(part, {text_of(as_object(part.data), "call_id") or ""})
            return b"" if item is None else self._item(item)
        return b""

    def _release(self, delta: Delta | None) -> bytes:
        """Keeps the call of a hosted tool, which waits for its result."""
        call, self._held = self._held, None
        if call is None:
            return b""
        result = delta.part if isinstance(delta, PartDelta) and isinstance(delta.part, HostedToolResult) else None
        item = write_hosted(call, result, self._provider) or write_hosted(call, None, self._provider)
        return b"" if item is None else self._item(item)

    def _mcp_began(self, call: HostedToolCall) -> bytes:
        """Returns the beginning of a call of an MCP server; one that has begun already is replaced."""
        begun = self._mcp_calls.get(call.id)
        self._mcp_calls[call.id] = (self._items if begun is None else begun[0], call)
        item = write_hosted(call, None, self._provider)
        if begun is not None or item is None:
            return b""
        number = self._items
        self._items += 1
        position = {"item_id": call.id, "output_index": number}
        started = {**item, "status": "in_progress", "arguments": ""}
        return b"".join(
            (
                self._event("response.output_item.added", output_index=number, item=started),
                self._event("response.mcp_call.in_progress", **position),
                self._event("response.mcp_call_arguments.delta", **position, delta=call.arguments_text),
                self._event("response.mcp_call_arguments.done", **position, arguments=call.arguments_text),
            )
        )

    def _mcp_ended(self, id: str, result: HostedToolResult | None) -> bytes:
        number, call = self._mcp_calls.pop(id)
        item = write_hosted(call, result, self._provider) or write_hosted(call, None, self._provider)
        if item is None:
            return b""
        ending = "failed" if item.get("error") is not None or item.get("status") == "failed" else "completed"
        ended = self._event(f"response.mcp_call.{ending}", item_id=id, output_index=number)
        return ended + self._event("response.output_item.done", output_index=number, item=item)

    def _item(self, item: Object) -> bytes:
        number = self._items
        self._items += 1
        added = self._event("response.output_item.added", output_index=number, item=item)
        if item.get("type") == _LIST_TOOLS:
            position = {"item_id": item.get("id"), "output_index": number}
            ending = "completed" if item.get("error") is None else "failed"
            added += self._event(f"response.{_LIST_TOOLS}.in_progress", **position)
            added += self._event(f"response.{_LIST_TOOLS}.{ending}", **position)
        return added + self._event("response.output_item.done", output_index=number, item=item)

    def _position(self, block: _RenderedItem, **index: int) -> Object:
        return {"item_id": block.item(block.part)["id"], "output_index": block.number, **index}

    def _event(self, type: str, **data: Any) -> bytes:
        event = {"type": type, "sequence_number": self._sequence, **data}
        self._sequence += 1
        return b"event: " + type.encode() + b"\ndata: " + to_json(event) + b"\n\n"
