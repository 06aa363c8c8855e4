"""`ToolLoop`: the state of a tool loop as data, which another process can continue."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

from .base_error import SchemaError
from .calls import ModelCall
from .deferred_costs import CostSource, HasDeferredCost, checked_cost
from .immutable import Immutable
from .json_values import JSONObject, check_choice, check_class, check_items, check_text
from .messages import Message
from .output_attempts import OutputAttempt
from .parts import ContentPart, TextPart, ToolCall, ToolResult
from .replies import ModelReply
from .tool_steps import ToolStep
from .tools import ToolLabel
from .usage import Usage
from .writing import written

LoopStatus = Literal[
    "running",
    "answered",
    "final",
    "suspended",
    "max_rounds",
    "max_calls",
    "repeated_failure",
    "cancelled",
    "failed",
]
"""Where a loop stands: it runs; the model answered; a final tool ended it; calls wait for an answer; a limit was
reached; the same call failed too often; it was cancelled; an error ended it."""
PendingReason = Literal["approval", "execution", "data_flow", "interrupted"]
"""Why a call waits: an approver suspended it; it is run elsewhere; it would send private data after untrusted content
was read; a crash left it without a result, so that it may have run."""
AnswerKind = Literal["allow", "deny", "edit", "result"]


def call_digest(call: ToolCall) -> str:
    """Returns the SHA-256 of a call's id, tool and arguments: an answer applies to exactly this call."""
    arguments: object = call.arguments if call.arguments is not None else call.arguments_text
    named = {"id": call.id, "name": call.name, "arguments": arguments}
    return hashlib.sha256(written(named, canonical=True)).hexdigest()


@dataclass(frozen=True, slots=True)
class ToolAnswer(Immutable):
    """The answer to a pending call, made with `PendingCall.allow` and similar methods. It can be used once."""

    call_id: str
    digest: str
    kind: AnswerKind
    reason: str | None = None
    arguments: JSONObject | None = None
    content: tuple[ContentPart, ...] = ()
    is_error: bool = False

    def __post_init__(self) -> None:
        check_text(self.call_id, "call_id")
        check_choice(self.kind, get_args(AnswerKind), "kind")


@dataclass(frozen=True, slots=True)
class PendingCall(Immutable):
    """A tool call that waits for an answer. `note` is the approver's; `labels` are those of what the model has read.

    Raises `SchemaError` if `digest` is not that of the call: the state was changed.
    """

    call: ToolCall
    reason: PendingReason
    digest: str = ""
    note: str | None = None
    labels: tuple[ToolLabel, ...] = ()

    def __post_init__(self) -> None:
        check_class(self.call, ToolCall, "call")
        check_choice(self.reason, get_args(PendingReason), "reason")
        digest = call_digest(self.call)
        if self.digest not in ("", digest):
            raise SchemaError("is not that of the call: the call was changed after it was suspended", "digest")
        object.__setattr__(self, "digest", digest)

    def allow(self) -> ToolAnswer:
        """Returns the answer that the call may run."""
        return ToolAnswer(self.call.id, self.digest, "allow")

    def deny(self, reason: str = "") -> ToolAnswer:
        """Returns the answer that the call must not run; the model is given the reason."""
        return ToolAnswer(self.call.id, self.digest, "deny", reason)

    def edit(self, arguments: JSONObject) -> ToolAnswer:
        """Returns the answer that the call may run with other arguments, which are validated before."""
        return ToolAnswer(self.call.id, self.digest, "edit", arguments=arguments)

    def result(self, *content: str | ContentPart, is_error: bool = False) -> ToolAnswer:
        """Returns the result of a call that was run elsewhere: texts and media parts in order."""
        result = ToolResult.of(self.call.id, *content, is_error=is_error)
        return ToolAnswer(self.call.id, self.digest, "result", content=result.content, is_error=is_error)


_NO_USAGE = Usage()
_ITEMS = (("replies", ModelReply), ("steps", ToolStep), ("output_attempts", OutputAttempt), ("pending", PendingCall))


def added_messages(
    replies: Sequence[ModelReply],
    steps: Sequence[ToolStep],
    output_attempts: Sequence[OutputAttempt] = (),
    *,
    as_sent: bool = False,
) -> tuple[Message, ...]:
    """Returns what rounds add to a conversation: each reply, then the results of its calls or the correction of its
    answer. Results are left out while one of them is missing. With `as_sent`, an invalid answer in a call of the
    output tool is that call, and its correction the result; otherwise both are text, which needs no such tool.
    """
    messages: list[Message] = []
    for index, reply in enumerate(replies):
        attempts = [each for each in output_attempts if each.round == index and each.correction]
        if as_sent and attempts and attempts[0].tool_call is not None:
            messages += _corrected_call(reply, attempts[0].tool_call, attempts[0].correction)
            continue
        message = reply.message()
        messages += [message] if message is not None else []
        results = {step.call.id: step.result for step in steps if step.round == index}
        if reply.tool_calls and all(call.id in results for call in reply.tool_calls):
            messages.append(Message.tool(*(results[call.id] for call in reply.tool_calls)))
        messages += [Message.user(each.correction) for each in attempts]
    return tuple(messages)


def _corrected_call(reply: ModelReply, call: ToolCall, correction: str) -> list[Message]:
    others = tuple(part for part in reply.parts if not isinstance(part, TextPart | ToolCall))
    result = ToolResult.text(call.id, correction, is_error=True)
    return [Message("assistant", (*others, call)), Message.tool(result)]


@dataclass(frozen=True, slots=True)
class ToolLoop(HasDeferredCost, Immutable):
    """The state of a tool loop. `to_json(loop)` and `from_json` carry it to another process; `llm.resume` continues it.

    `id` is the trace id of the loop, `call` the call of its first round with all tools. `replies` has one entry for
    each round, `steps` the calls handled so far, `output_attempts` the answers that were not valid, `pending` the calls
    that wait. `found` names the deferred tools that the model has found. `usage` and `cost` cover all rounds, as those
    of a response do.
    """

    id: str
    call: ModelCall
    replies: tuple[ModelReply, ...] = ()
    steps: tuple[ToolStep, ...] = ()
    output_attempts: tuple[OutputAttempt, ...] = ()
    pending: tuple[PendingCall, ...] = ()
    status: LoopStatus = "running"
    found: tuple[str, ...] = ()
    usage: Usage = _NO_USAGE
    cost: Decimal | None = Decimal(0)
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_class(self.call, ModelCall, "call")
        for name, kind in _ITEMS:
            object.__setattr__(self, name, check_items(getattr(self, name), kind, name))
        object.__setattr__(self, "found", check_items(self.found, str, "found"))
        check_choice(self.status, get_args(LoopStatus), "status")
        check_class(self.usage, Usage, "usage")
        object.__setattr__(self, "cost", checked_cost(self.cost))

    def with_(self, **changes: Any) -> ToolLoop:
        """Returns a copy with changed fields, which are validated like those of a new loop."""
        return replace(self, **changes)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the loop has added to the conversation so far; the results of a round when all of them are there."""
        return added_messages(self.replies, self.steps, self.output_attempts, as_sent=True)

    @property
    def labels(self) -> tuple[ToolLabel, ...]:
        """The labels of what the model has read."""
        read = {label for step in self.steps for label in step.labels}
        return tuple(label for label in get_args(ToolLabel) if label in read)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last reply that have no result yet, in order."""
        if not self.replies:
            return ()
        done = {step.call.id for step in self.steps if step.round == len(self.replies) - 1}
        return tuple(call for call in self.replies[-1].tool_calls if call.id not in done)
