"""Renders deltas as the events of a stream (server side)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    Delta,
    HostedToolCall,
    PartDelta,
    ReasoningDelta,
    ReasoningEnd,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

from ...common.reading import Object
from .blocks import own_block, spanned_citations
from .dialect import MessagesDialect
from .errors import render_error
from .vocabulary import finish_reason_to_theirs, metadata_to_theirs, usage_to_theirs

_TEXT: Object = {"type": "text", "text": ""}
_THINKING: Object = {"type": "thinking", "thinking": "", "signature": ""}


@dataclass(slots=True)
class _RenderedBlock:
    """A block that was started: its index, and the length of its text so far."""

    index: int
    length: int = 0
    stopped: bool = False


class MessageRenderer:
    """Renders one stream. A block is started by its first content, since an empty one is invalid."""

    def __init__(self, dialect: MessagesDialect) -> None:
        self._provider = dialect.provider
        self._blocks: dict[int, _RenderedBlock] = {}
        self._texts: dict[int, Object] = {}
        """The start event of each kind of text."""
        self._count = 0
        self._usage = Usage()

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta | ReasoningDelta) and not delta.text:
            return b""
        if isinstance(delta, TextDelta):
            content = self._texts.get(delta.block, _TEXT)
            return self._add(delta.block, content, {"type": "text_delta", "text": delta.text})
        if isinstance(delta, ReasoningDelta):
            return self._add(delta.block, _THINKING, {"type": "thinking_delta", "thinking": delta.text})
        if isinstance(delta, ToolCallDelta):
            piece = {"type": "input_json_delta", "partial_json": delta.arguments_text}
            return self._delta(self._blocks[delta.block], piece)
        if isinstance(delta, ToolCallStart):
            call: Object = {"type": "tool_use", "id": delta.id, "name": delta.name, "input": {}}
            return self._begin(delta.block, {**delta.provider_options.get(self._provider, {}), **call})
        if isinstance(delta, ToolCallEnd):
            return self._stop(delta.block)
        return self._rare(delta)

    def finish(self) -> bytes:
        """Returns the end mark."""
        return _event({"type": "message_stop"})

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as an event."""
        return b"event: error\ndata: " + render_error(error).body + b"\n\n"

    def _rare(self, delta: Delta) -> bytes:
        if isinstance(delta, ReplyStart):
            return _start(delta)
        if isinstance(delta, TextStart):
            self._texts[delta.block] = {**delta.provider_options.get(self._provider, {}), **_TEXT}
        elif isinstance(delta, TextEnd):
            return self._cite(delta) + self._stop(delta.block)
        if isinstance(delta, ReasoningEnd):
            return self._end_reasoning(delta)
        if isinstance(delta, PartDelta):
            return self._whole(delta)
        if isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            return self._end(delta)
        return b""

    def _begin(self, block: int, content: Object) -> bytes:
        self._blocks[block] = _RenderedBlock(self._count)
        self._count += 1
        return _event({"type": "content_block_start", "index": self._count - 1, "content_block": content})

    def _add(self, number: int, content: Object, piece: Object) -> bytes:
        block = self._blocks.get(number)
        begin = self._begin(number, content) if block is None or block.stopped else b""
        block = self._blocks[number]
        block.length += len(piece.get("text", ""))
        return begin + self._delta(block, piece)

    def _delta(self, block: _RenderedBlock, piece: Object) -> bytes:
        return _event({"type": "content_block_delta", "index": block.index, "delta": piece})

    def _stop(self, number: int) -> bytes:
        block = self._blocks.get(number)
        if block is None or block.stopped:
            return b""
        block.stopped = True
        return _event({"type": "content_block_stop", "index": block.index})

    def _cite(self, delta: TextEnd) -> bytes:
        block = self._blocks.get(delta.block)
        if block is None or not delta.citations:
            return b""
        part = TextPart("x" * block.length, delta.citations)
        cited = ({"type": "citations_delta", "citation": data} for data in spanned_citations(part, "", []))
        return b"".join(self._delta(block, piece) for piece in cited)

    def _end_reasoning(self, delta: ReasoningEnd) -> bytes:
        begun = delta.block in self._blocks and not self._blocks[delta.block].stopped
        if not begun and delta.redacted_data is not None:
            block = {"type": "redacted_thinking", "data": delta.redacted_data}
            return self._begin(delta.block, block) + self._stop(delta.block)
        if delta.signature is None:
            return self._stop(delta.block)
        signed = {"type": "signature_delta", "signature": delta.signature}
        return self._add(delta.block, _THINKING, signed) + self._stop(delta.block)

    def _whole(self, delta: PartDelta) -> bytes:
        block = own_block(delta.part, self._provider)
        if block is None:
            return b""
        if not isinstance(delta.part, HostedToolCall):
            return self._begin(delta.block, block) + self._stop(delta.block)
        begin = self._begin(delta.block, {**block, "input": {}})
        piece = {"type": "input_json_delta", "partial_json": delta.part.arguments_text}
        return begin + self._delta(self._blocks[delta.block], piece) + self._stop(delta.block)

    def _end(self, delta: ReplyEnd) -> bytes:
        stops = b"".join(map(self._stop, self._blocks))
        metadata, of_usage = metadata_to_theirs(delta.provider_metadata, [])
        reason = finish_reason_to_theirs(delta.finish_reason, delta.raw_finish_reason)
        change = {"stop_reason": reason, "stop_sequence": None, **metadata}
        return stops + _event(
            {"type": "message_delta", "delta": change, "usage": usage_to_theirs(self._usage, of_usage)}
        )


def _start(delta: ReplyStart) -> bytes:
    """Returns the start of the message; clients expect token counts there, which are not known yet."""
    message: Object = {
        "id": delta.id or "",
        "type": "message",
        "role": "assistant",
        "model": delta.model or "",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    return _event({"type": "message_start", "message": message})


def _event(data: Any) -> bytes:
    return b"event: " + data["type"].encode() + b"\ndata: " + to_json(data) + b"\n\n"
