"""From deltas to `chat.completion.chunk` events (server side)."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    Delta,
    ReasoningDelta,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    UsageDelta,
)

from ..json_reading import Object
from .failures import render_error
from .vocabulary import finish_reason_to_theirs, usage_to_theirs


class ChatRenderer:
    """Renders one stream. Usage goes out in a last chunk of its own, after the finish reason, as OpenAI sends it."""

    def __init__(self) -> None:
        self._head: Object = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": ""}
        self._calls: dict[int, int] = {}
        self._usage: Object | None = None

    def feed(self, delta: Delta) -> bytes:
        """The event of one delta; nothing for those that carry nothing here."""
        if isinstance(delta, TextDelta):
            return self._chunk({"content": delta.text})
        if isinstance(delta, ReasoningDelta):
            return self._chunk({"reasoning_content": delta.text})
        if isinstance(delta, ToolCallStart):
            index = self._calls[delta.block] = len(self._calls)
            function = {"name": delta.name, "arguments": ""}
            return self._chunk(
                {"tool_calls": [{"index": index, "id": delta.id, "type": "function", "function": function}]}
            )
        if isinstance(delta, ToolCallDelta):
            call = {"index": self._calls[delta.block], "function": {"arguments": delta.arguments_text}}
            return self._chunk({"tool_calls": [call]})
        if isinstance(delta, ReplyStart):
            self._head |= {"id": delta.id or "", "model": delta.model or ""}
            return self._chunk({"role": "assistant", "content": ""})
        if isinstance(delta, UsageDelta):
            self._usage = usage_to_theirs(delta.usage)
        if isinstance(delta, ReplyEnd):
            return self._chunk({}, finish_reason_to_theirs(delta.finish_reason))
        return b""

    def finish(self) -> bytes:
        """Usage, if it was reported, and the end mark."""
        usage = b"" if self._usage is None else _event({**self._head, "choices": [], "usage": self._usage})
        return usage + b"data: [DONE]\n\n"

    def error(self, error: AbstractCoreError) -> bytes:
        """The error as an event."""
        return b"data: " + render_error(error).body + b"\n\n"

    def _chunk(self, delta: Object, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _event({**self._head, "choices": [choice]})


def _event(data: Any) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"
