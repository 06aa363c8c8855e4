"""Renders deltas as the lines of a stream (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError
from abstractcore.schema import (
    Delta,
    ImagePart,
    PartDelta,
    ReasoningDelta,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)

from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .encode import write_call
from .errors import render_error
from .vocabulary import ARGUMENTS, PROVIDER, USAGE, finish_reason_to_theirs, is_at_hand, metadata_to_theirs, write_image


class OllamaRenderer:
    """Renders one stream. A tool call is sent complete; the last line has the usage and the finish reason."""

    def __init__(self) -> None:
        self._model = ""
        self._calls: dict[int, ToolCallStart] = {}
        self._arguments: dict[int, list[str]] = {}
        self._called = 0
        self._end: Object = {}

    def feed(self, delta: Delta) -> bytes:
        """Returns the line of one delta; empty for those without a counterpart."""
        if isinstance(delta, TextDelta):
            return self._line(content=delta.text)
        if isinstance(delta, ReasoningDelta):
            return self._line(content="", thinking=delta.text)
        if isinstance(delta, ToolCallDelta):
            self._arguments.setdefault(delta.block, []).append(delta.arguments_text)
        elif isinstance(delta, ToolCallStart):
            self._calls[delta.block] = delta
        elif isinstance(delta, ToolCallEnd):
            return self._call(delta.block)
        elif isinstance(delta, ReplyStart):
            self._model = delta.model or ""
        elif isinstance(delta, PartDelta):
            if isinstance(delta.part, ImagePart) and is_at_hand(delta.part):
                return self._line(content="", images=[write_image(delta.part, "", [])])
        elif isinstance(delta, UsageDelta):
            self._end |= USAGE.write(delta.usage)
        elif isinstance(delta, ReplyEnd):
            reason = finish_reason_to_theirs(delta.finish_reason, calls=bool(self._called))
            self._end |= {"done_reason": reason} if reason else {}
            self._end |= metadata_to_theirs(dict(delta.provider_metadata), [])
        return b""

    def finish(self) -> bytes:
        """Returns the last line."""
        message = {"role": "assistant", "content": ""}
        return to_json({"model": self._model, "message": message, "done": True, **self._end}) + b"\n"

    def error(self, error: AbstractCoreError) -> bytes:
        """Returns the error as a line."""
        return render_error(error).body + b"\n"

    def _call(self, block: int) -> bytes:
        start = self._calls[block]
        text = "".join(self._arguments.pop(block, ()))
        call = ToolCall(start.id, start.name, text, provider_options=start.provider_options)
        writer = BodyWriter(PROVIDER, ARGUMENTS, one_line=True)
        written = write_call(call, self._called, "", writer)
        self._called += 1
        return writer.json(self._object(content="", tool_calls=[written])) + b"\n"

    def _line(self, **message: object) -> bytes:
        return to_json(self._object(**message)) + b"\n"

    def _object(self, **message: object) -> Object:
        return {"model": self._model, "message": {"role": "assistant", **message}, "done": False}
