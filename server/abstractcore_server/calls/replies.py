"""What replies need for a client: arguments that its API can write, and the field `abstractcore`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import ServerError
from abstractcore.schema import (
    CallWarning,
    Delta,
    GenerateResponse,
    ModelReply,
    Part,
    ReplyEnd,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    to_data,
)

from ..dialects.base import EXTENSION, ClientDialect
from .jobs import PlannedCall

_INVALID = "INVALID_JSON"
"""The name by which Anthropic's API takes such arguments back
(https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
"""


def with_valid_arguments(reply: ModelReply, dialect: ClientDialect) -> ModelReply:
    """Returns a reply with its arguments as the client's API can write them."""
    if dialect.arguments == "text" or not any(call.arguments is None for call in reply.tool_calls):
        return reply
    return replace(reply, parts=tuple(map(_with_object, reply.parts)))


class StreamedArguments:
    """Arguments in the deltas of one stream. An API whose streams have whole objects gets each call's arguments at
    their end; one that gets them in pieces gets an error at the end of the reply, unless that was cut off, as its
    clients expect of arguments that are not complete.
    """

    def __init__(self, dialect: ClientDialect) -> None:
        self._form = dialect.arguments
        self._calls: dict[int, tuple[ToolCallStart, list[str]]] = {}
        self._damaged: ToolCall | None = None

    def check(self, deltas: Sequence[Delta]) -> Sequence[Delta]:
        """Returns deltas as the client's API can write them; raises `ServerError` for those that it cannot."""
        return deltas if self._form == "text" else [each for delta in deltas for each in self._check(delta)]

    def _check(self, delta: Delta) -> list[Delta]:
        if isinstance(delta, ToolCallStart):
            self._calls[delta.block] = delta, []
        elif isinstance(delta, ToolCallDelta):
            self._calls[delta.block][1].append(delta.arguments_text)
            return [] if self._form == "object" else [delta]
        elif isinstance(delta, ToolCallEnd):
            start, pieces = self._calls.pop(delta.block)
            return self._end_call(delta, ToolCall(start.id, start.name, "".join(pieces)))
        elif isinstance(delta, ReplyEnd) and self._damaged is not None and delta.finish_reason != "length":
            raise ServerError(
                f"the model called {self._damaged.name!r} with arguments that are not JSON: "
                f"{self._damaged.arguments_error}"
            )
        return [delta]

    def _end_call(self, end: ToolCallEnd, call: ToolCall) -> list[Delta]:
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


def reply_warnings(
    planned: PlannedCall,
    response: GenerateResponse[Any],
    reply: ModelReply,
    of_rendering: Sequence[CallWarning] = (),
) -> tuple[CallWarning, ...]:
    """Returns the warnings of a call, from its request to its reply, as it was received, and of its guards."""
    of_guards = () if planned.guarding is None else planned.guarding.warnings
    of_reply = planned.head.warnings(reply)
    return (*planned.warnings, *response.warnings, *of_reply, *of_rendering, *of_guards)


def reply_extension(
    planned: PlannedCall, response: GenerateResponse[Any], reply: ModelReply, warnings: Sequence[CallWarning]
) -> dict[str, Any]:
    """Returns the field `abstractcore` of a reply: who answered, what it cost, what happened to files, what guards
    decided, which tools the server has run, the provider's fields that are left out of the reply itself, and all
    warnings.
    """
    decisions = () if planned.guarding is None else planned.guarding.decisions
    left_out = planned.head.left_out(reply)
    return {
        "trace_id": response.trace_id,
        "model": f"{response.provider}/{response.model}",
        "cost": None if response.cost is None else str(response.cost),
        "cost_source": response.cost_source,
        "cost_reason": response.cost_reason,
        "seconds": round(response.seconds, 6),
        "attempts": len(response.attempts),
        "usage": to_data(response.usage),
        "media": [to_data(decision) for decision in response.media],
        **({"guards": [decision.data() for decision in decisions]} if decisions else {}),
        **({} if planned.rounds is None else {"tools": planned.rounds.runs(response.tool_steps)}),
        **({"provider_fields": to_data(left_out)} if left_out else {}),
        "warnings": [to_data(warning) for warning in warnings],
    }


def with_extension(body: bytes, extension: Mapping[str, Any]) -> bytes:
    """Returns a JSON object, or the last one of a stream, with the field `abstractcore` at its end."""
    end = body.rindex(b"}")
    comma = b"" if body[:end].rstrip().endswith(b"{") else b","
    return body[:end] + comma + f'"{EXTENSION}":'.encode() + to_json(extension) + body[end:]
