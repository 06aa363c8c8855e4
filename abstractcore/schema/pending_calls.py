"""`PendingCall`: a tool call that waits for an answer; `ToolAnswer`, the answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, get_args

from .base_error import SchemaError
from .frozen_json import freeze_object
from .immutable import Immutable
from .input_requests import InputRequest, InputResponse
from .json_values import JSONObject, check_choice, check_class, check_count, check_text
from .parts import ContentPart, ToolCall, ToolResult, canonical_content
from .tools import ToolLabel, ToolSpec, check_labels
from .writing import written

PendingReason = Literal["approval", "execution", "data_flow", "interrupted", "input", "tool_changed"]
"""Why a call waits: an approver suspended it; it is run elsewhere; it would send private data after untrusted content
was read; a crash left it without a result, so that it may have run; the tool has asked for input; the definition of the
tool is not the one that was trusted."""
AnswerKind = Literal["allow", "deny", "edit", "result", "input"]


def call_digest(
    call: ToolCall, loop: str = "", round: int = 0, attempts: int = 0, input: InputRequest | None = None
) -> str:
    """Returns the SHA-256 of a call's id, tool and arguments, with the id of its loop, its round, how often it was
    begun before, and what it asks: an answer applies to exactly this.
    """
    arguments: object = call.arguments if call.arguments is not None else call.arguments_text
    named: dict[str, object] = {"id": call.id, "name": call.name, "arguments": arguments}
    named |= {"loop": loop, "round": round, "attempts": attempts}
    if input is not None:
        named["input"] = input
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
    input: InputResponse | None = None

    def __post_init__(self) -> None:
        check_text(self.call_id, "call_id")
        check_text(self.digest, "digest")
        check_choice(self.kind, get_args(AnswerKind), "kind")
        if self.reason is not None:
            check_text(self.reason, "reason")
        if (self.kind == "edit") != (self.arguments is not None):
            raise SchemaError("is required with kind 'edit', and allowed with no other kind", "arguments")
        if (self.kind == "input") != (self.input is not None):
            raise SchemaError("is required with kind 'input', and allowed with no other kind", "input")
        if self.input is not None:
            check_class(self.input, InputResponse, "input")
        if self.arguments is not None:
            object.__setattr__(self, "arguments", freeze_object(self.arguments, "arguments"))
        object.__setattr__(self, "content", canonical_content(self.content, "content"))


@dataclass(frozen=True, slots=True)
class AllowedCall(Immutable):
    """A tool call that may run. `requested` is the model's call, if an approval changed its arguments; `input` the
    answers to what the tool has asked.
    """

    call: ToolCall
    requested: ToolCall | None = None
    input: InputResponse | None = None

    def __post_init__(self) -> None:
        check_class(self.call, ToolCall, "call")


@dataclass(frozen=True, slots=True)
class PendingCall(Immutable):
    """A tool call that waits for an answer. `note` is the approver's; `labels` are those of what the model has read.

    `tool` is the spec of its tool. `loop` and `round` say which loop made it, and in which round. `attempts` counts how
    often it was begun before a crash; `requested` is the model's call then, if an approval had changed its arguments.
    `input` is what the tool asks, with the reason "input".
    Raises `SchemaError` if `digest` is not that of the call: the state was changed.
    """

    call: ToolCall
    reason: PendingReason
    digest: str = ""
    note: str | None = None
    labels: tuple[ToolLabel, ...] = ()
    tool: ToolSpec | None = None
    loop: str = ""
    round: int = 0
    attempts: int = 0
    requested: ToolCall | None = None
    input: InputRequest | None = None

    def __post_init__(self) -> None:
        check_class(self.call, ToolCall, "call")
        check_choice(self.reason, get_args(PendingReason), "reason")
        if self.note is not None:
            check_text(self.note, "note")
        object.__setattr__(self, "labels", check_labels(self.labels))
        check_text(self.loop, "loop")
        for name in ("round", "attempts"):
            check_count(getattr(self, name), name)
        if (self.reason == "input") != (self.input is not None):
            raise SchemaError("is required with the reason 'input', and allowed with no other", "input")
        digest = call_digest(self.call, self.loop, self.round, self.attempts, self.input)
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

    def respond(self, *answers: JSONObject | None) -> ToolAnswer:
        """Returns the answers to the questions of `input`, in their order; None declines one.

        Raises `SchemaError` for a call that asks nothing, and for another number of answers.
        """
        if self.input is None:
            problem = f"the call of the tool {self.call.name!r} asks for no input"
            raise SchemaError(f"{problem}: answer with allow(), deny(), edit() or result()", "input")
        try:
            given = InputResponse(self.input, answers)
        except SchemaError as error:
            keys = ", ".join(question.key for question in self.input.questions)
            hint = f"The tool {self.call.name!r} asks for {keys}: give an object, or None, for each in this order."
            raise SchemaError(error.message, error.path, hint=hint) from None
        return ToolAnswer(self.call.id, self.digest, "input", input=given)

    def result(self, *content: str | ContentPart, is_error: bool = False) -> ToolAnswer:
        """Returns the result of a call that was run elsewhere: texts and media parts in order."""
        result = ToolResult.of(self.call.id, *content, is_error=is_error)
        return ToolAnswer(self.call.id, self.digest, "result", content=result.content, is_error=is_error)
