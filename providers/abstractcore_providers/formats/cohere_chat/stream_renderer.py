"""Renders deltas as the events of a stream (server side)."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    Delta,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
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

from ...common.function_tools import write_function_call
from ...common.reading import Object, as_object, read_answer
from ...common.response_bodies import merge
from .answers import citations_to_theirs, fitting
from .errors import render_error
from .vocabulary import FINISH_REASONS, PROVIDER, metadata_to_theirs, usage_to_theirs


class CohereRenderer:
    """Renders one stream. A content block has the number of its part; tool calls are counted from 0."""

    def __init__(self) -> None:
        self._calls: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        self._usage = Usage()
        self._end: ReplyEnd | None = None

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta):
            self._texts[delta.block] = self._texts.get(delta.block, "") + delta.text
            return _message("content-delta", delta.block, content={"text": delta.text})
        if isinstance(delta, ReasoningDelta):
            return _message("content-delta", delta.block, content={"thinking": delta.text})
        if isinstance(delta, ToolCallDelta):
            function = {"arguments": delta.arguments_text}
            return _message("tool-call-delta", self._calls[delta.block], tool_calls={"function": function})
        return self._frame(delta)

    def _frame(self, delta: Delta) -> bytes:
        """Returns the events that start and end blocks and the reply."""
        if isinstance(delta, TextStart):
            content: Object = {**delta.provider_options.get(PROVIDER, {}), "type": "text", "text": ""}
            return _message("content-start", delta.block, content=content)
        if isinstance(delta, ReasoningStart):
            return _message("content-start", delta.block, content={"type": "thinking", "thinking": ""})
        if isinstance(delta, TextEnd):
            return self._citations(delta) + _event("content-end", index=delta.block)
        if isinstance(delta, ReasoningEnd):
            return _event("content-end", index=delta.block)
        if isinstance(delta, ToolCallStart):
            index = self._calls[delta.block] = len(self._calls)
            call = {**delta.provider_options.get(PROVIDER, {}), **write_function_call(delta.id, delta.name, "")}
            return _message("tool-call-start", index, tool_calls=call)
        if isinstance(delta, ToolCallEnd):
            return _event("tool-call-end", index=self._calls[delta.block])
        if isinstance(delta, ReplyStart):
            message: Object = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
            named = {} if delta.model is None else {"model": delta.model}
            return _event("message-start", id=delta.id or "", delta={"message": message}, **named)
        if isinstance(delta, UsageDelta):
            self._usage = delta.usage
        elif isinstance(delta, ReplyEnd):
            self._end = delta
        return b""

    def finish(self) -> bytes:
        """Returns the event that ends the message."""
        metadata = metadata_to_theirs(self._end.provider_metadata, []) if self._end else {}
        reason = FINISH_REASONS.to_theirs.get(self._end.finish_reason) if self._end else None
        delta: Object = {} if reason is None else {"finish_reason": reason}
        fields = merge(metadata, usage_to_theirs(self._usage))
        if "usage" in fields:
            delta["usage"] = fields.pop("usage")
        return _event("message-end", delta=delta, **fields)

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the event that ends the message with an error."""
        body = as_object(read_answer(render_error(error).body))
        delta = {"finish_reason": "ERROR", "error": body["message"]}
        return _event("message-end", delta=delta, code=body["code"])

    def _citations(self, delta: TextEnd) -> bytes:
        text = TextPart(self._texts.get(delta.block, ""), delta.citations)
        cited = citations_to_theirs(text.text, fitting(text.citations, "", []), delta.block)
        return b"".join(
            _message("citation-start", index, citations=citation) + _event("citation-end", index=index)
            for index, citation in enumerate(cited)
        )


def _message(kind: str, index: int, **message: Any) -> bytes:
    return _event(kind, index=index, delta={"message": message})


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + to_json({"type": kind, **fields}) + b"\n\n"
