"""Arguments of tool calls that are not JSON, for clients whose API has an object in their place.

Such a call stays a wrong one: without its arguments, a client would run it with none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from abstractcore.errors import ServerError
from abstractcore.schema import Delta, ModelReply, Part, ReplyEnd, ToolCall, ToolCallDelta, ToolCallEnd, ToolCallStart

from .dialects.base import Dialect

_INVALID = "INVALID_JSON"
"""The name by which Anthropic's API takes such arguments back
(https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
"""


def with_valid_arguments(reply: ModelReply, dialect: Dialect) -> ModelReply:
    """Returns a reply with its arguments as the client's API can write them."""
    if dialect.arguments == "text" or not any(call.arguments is None for call in reply.tool_calls):
        return reply
    return replace(reply, parts=tuple(map(_with_object, reply.parts)))


class StreamedArguments:
    """Arguments in the deltas of one stream. An API whose streams have whole objects gets each call's arguments at
    their end; one that gets them in pieces gets an error at the end of the reply, unless that was cut off, as its
    clients expect of arguments that are not complete.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._form = dialect.arguments
        self._calls: dict[int, tuple[ToolCallStart, list[str]]] = {}
        self._damaged: ToolCall | None = None

    def checked(self, deltas: Sequence[Delta]) -> Sequence[Delta]:
        """Returns deltas as the client's API can write them; raises `ServerError` for those that it cannot."""
        return deltas if self._form == "text" else [each for delta in deltas for each in self._checked(delta)]

    def _checked(self, delta: Delta) -> list[Delta]:
        if isinstance(delta, ToolCallStart):
            self._calls[delta.block] = delta, []
        elif isinstance(delta, ToolCallDelta):
            self._calls[delta.block][1].append(delta.arguments_text)
            return [] if self._form == "object" else [delta]
        elif isinstance(delta, ToolCallEnd):
            start, pieces = self._calls.pop(delta.block)
            return self._ended(delta, ToolCall(start.id, start.name, "".join(pieces)))
        elif isinstance(delta, ReplyEnd) and self._damaged is not None and delta.finish_reason != "length":
            raise ServerError(
                f"the model called {self._damaged.name!r} with arguments that are not JSON: "
                f"{self._damaged.arguments_error}"
            )
        return [delta]

    def _ended(self, end: ToolCallEnd, call: ToolCall) -> list[Delta]:
        if self._form == "pieces":
            self._damaged = call if call.arguments is None else self._damaged
            return [end]
        text = _valid(call).arguments_text
        return [ToolCallDelta(0, end.block, text), end] if text else [end]


def _with_object(part: Part) -> Part:
    return _valid(part) if isinstance(part, ToolCall) else part


def _valid(call: ToolCall) -> ToolCall:
    if call.arguments is not None:
        return call
    return replace(call, arguments_text=json.dumps({_INVALID: call.arguments_text}, ensure_ascii=False))
