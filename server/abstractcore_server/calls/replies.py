"""A reply as the client's API has it: its id and model, arguments of tool calls, and the field `abstractcore`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import InvalidInputError, ServerError
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import (
    EMPTY,
    CallWarning,
    Delta,
    GenerateResponse,
    ModelCall,
    ModelReply,
    Part,
    ReplyEnd,
    ReplyStart,
    SchemaError,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    to_data,
)

from ..access.guards import GuardDecision
from ..dialects.base import ClientDialect
from .passthrough import with_text, with_text_in_lines

if TYPE_CHECKING:
    from ..tools.rounds import ToolRounds

MODEL_CHANGE = "model"
"""The path of a receipt for a reply whose model has the client's name."""
_WRITTEN_BY_FORMATS = frozenset({"logprobs"})
"""Metadata that replies of all vendors have in common: each wire format writes them in its own way."""


@dataclass(frozen=True, slots=True)
class ReplyHead:
    """The name of the model, the id and the fields of the replies to one request.

    `model` is the name that the client has sent: some clients keep reasoning only if it comes back. Without
    `own_format`, the reply is of another API than the client's: an id of that API is left out, and so is each field
    that the client's API has under the same name (`ClientDialect.reply_fields`), since it means something else there.
    `is_renamed` says that the vendor has another name for the model.
    """

    dialect: ClientDialect
    model: str
    own_format: bool
    is_renamed: bool

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns a reply with this head."""
        metadata = self._metadata(reply.provider_metadata)
        return replace(reply, id=self._id(reply.id), model=self._model(reply.model), provider_metadata=metadata)

    def in_delta(self, delta: Delta) -> Delta:
        """Returns a delta of a reply with this head."""
        if isinstance(delta, ReplyStart):
            return replace(delta, id=self._id(delta.id), model=self._model(delta.model))
        if isinstance(delta, ReplyEnd):
            return replace(delta, provider_metadata=self._metadata(delta.provider_metadata))
        return delta

    def in_body(self, body: bytes) -> bytes:
        """Returns the vendor's own reply with the client's name of the model, and all else byte for byte."""
        for path in self.dialect.model_paths if self.is_renamed else ():
            body = with_text(body, path, self.model) or body
        return body

    def in_events(self, events: bytes) -> bytes:
        """Returns whole events of the vendor's own stream, as `in_body` does."""
        return with_text_in_lines(events, self.dialect.model_paths, self.model) if self.is_renamed else events

    def left_out(self, reply: ModelReply) -> dict[str, Any]:
        """Returns the fields of a reply that its client does not get."""
        kept = self._metadata(reply.provider_metadata)
        return {name: value for name, value in reply.provider_metadata.items() if name not in kept}

    def warnings(self, reply: ModelReply) -> tuple[CallWarning, ...]:
        """Returns a warning for each field of a reply that its client does not get."""
        message = "the client's API has a field of this name, which means something else"
        names = self.left_out(reply)
        return tuple(CallWarning("metadata_left_out", f"provider_metadata.{name}", message) for name in names)

    def _model(self, received: str | None) -> str | None:
        return self.model if self.is_renamed or received is None else received

    def _id(self, received: str | None) -> str | None:
        is_kept = received is None or self.own_format or received.startswith(self.dialect.id_prefix)
        return received if is_kept else None

    def _metadata(self, received: Mapping[str, Any]) -> Mapping[str, Any]:
        taken = frozenset[str]() if self.own_format else self.dialect.reply_fields - _WRITTEN_BY_FORMATS
        return {name: value for name, value in received.items() if name not in taken}


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


FIELD = "abstractcore"
_CALL_FIELDS = (
    "cache",
    "file_store",
    "media_history",
    "media_policy",
    "output_mode",
    "strict",
    "tags",
    "thinking",
    "tool_format",
    "tool_search",
)
"""Fields of a call that clients may set."""
NAMES = (*_CALL_FIELDS, "timeout")
"""Fields of the field `abstractcore`."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What a request says in the field `abstractcore`. Without the field, replies have none (`is_given`).

    `changes` are fields of the call, `timeout` is in seconds.
    """

    is_given: bool = False
    changes: Mapping[str, Any] | None = None
    timeout: float | None = None

    @classmethod
    def of(cls, value: object) -> Extension:
        """Returns the extension of a request; raises `InvalidInputError` for unknown names, with similar ones."""
        if value is None:
            return _NONE
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=FIELD)
        given = cast("Mapping[str, Any]", value)
        for name in given:
            if name not in NAMES:
                near = nearest_names(name[:100], NAMES)
                hint = did_you_mean(near) if near else f"The names are {', '.join(NAMES)}."
                raise InvalidInputError("there is no such field", path=f"{FIELD}.{name[:100]}", hint=hint)
        timeout = given.get("timeout")
        if timeout is not None and not (type(timeout) in (int, float) and timeout > 0):
            raise InvalidInputError("expected a number of seconds above 0", path=f"{FIELD}.timeout")
        changes = {name: value for name, value in given.items() if name in _CALL_FIELDS and value is not None}
        return cls(True, changes, timeout)

    def apply(self, call: ModelCall) -> ModelCall:
        """Returns the call with its fields changed; raises `InvalidInputError` with the path of an invalid value."""
        if not self.changes:
            return call
        try:
            return call.with_(**self.changes)
        except (SchemaError, TypeError) as error:
            message = error.message if isinstance(error, SchemaError) else str(error)
            path = error.path if isinstance(error, SchemaError) else ""
            raise InvalidInputError(message, path=f"{FIELD}.{path}".rstrip(".")) from None


_NONE = Extension()


def reply_fields(
    response: GenerateResponse[Any],
    warnings: tuple[CallWarning, ...],
    name: str,
    decisions: Sequence[GuardDecision] = (),
    rounds: ToolRounds | None = None,
    left_out: Mapping[str, Any] = EMPTY,
) -> dict[str, Any]:
    """Returns the field of a reply: who answered, what it cost, what happened to files, what guards decided, which
    tools the server has run, the provider's fields that are left out of the reply itself (`left_out`), and all
    warnings.
    """
    tools = {} if rounds is None else {"tools": rounds.runs(response.tool_steps)}
    return {
        "trace_id": response.trace_id,
        "model": name,
        "cost": None if response.cost is None else str(response.cost),
        "cost_source": response.cost_source,
        "cost_reason": response.cost_reason,
        "seconds": round(response.seconds, 6),
        "attempts": len(response.attempts),
        "usage": to_data(response.usage),
        "media": [to_data(decision) for decision in response.media],
        **({"guards": [decision.data() for decision in decisions]} if decisions else {}),
        **tools,
        **({"provider_fields": to_data(left_out)} if left_out else {}),
        "warnings": [to_data(warning) for warning in warnings],
    }


def with_field(body: bytes, fields: bytes) -> bytes:
    """Returns a JSON object, or the last one of a stream, with the field `abstractcore` at its end."""
    end = body.rindex(b"}")
    comma = b"" if body[:end].rstrip().endswith(b"{") else b","
    return body[:end] + comma + f'"{FIELD}":'.encode() + fields + body[end:]
