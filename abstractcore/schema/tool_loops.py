"""`ToolLoop`: the state of a tool loop as data, which another process can continue.

`PendingCall`: a tool call that waits for an answer; `ToolAnswer`, the answer. `InputRequest`: what a tool asks the
user before it can go on; `InputResponse`, the answers. `OutputAttempt`: an answer that does not match the requested
type, after which the model was asked again. `JournalEntry`: one event of a tool loop, noted so that the loop can be
continued after a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

from .base_error import SchemaError
from .calls import Message, ModelCall
from .codec import written
from .costs import CostSource, CostSums, HasDeferredCost, checked_cost, checked_sums
from .json_values import (
    EMPTY,
    JSONObject,
    JSONValue,
    check_choice,
    check_class,
    check_count,
    check_flag,
    check_items,
    check_text,
    freeze,
    freeze_object,
)
from .parts import ContentPart, TextPart, ToolCall, ToolResult, canonical_content
from .replies import ModelReply, Usage
from .reprs import Immutable
from .tool_steps import ToolStep
from .tools import HostedToolKind, ToolLabel, ToolSpec, check_labels


@dataclass(frozen=True, slots=True)
class Question(Immutable):
    """One question of a tool. `key` is the tool's name for it, `message` is shown to the user.

    `schema` is a JSON Schema of the answer, an object. With `url`, the user does something on that page instead, such
    as signing in, and the answer has no content.
    """

    key: str
    message: str
    schema: JSONObject = EMPTY
    url: str | None = None

    def __post_init__(self) -> None:
        for name in ("key", "message"):
            check_text(getattr(self, name), name)
        if self.url is not None:
            check_text(self.url, "url")
        object.__setattr__(self, "schema", freeze_object(self.schema, "schema"))


@dataclass(frozen=True, slots=True)
class InputRequest(Immutable):
    """The questions of a tool. `state` is its own, and given back to it with the answers."""

    questions: tuple[Question, ...]
    state: JSONValue = None

    def __post_init__(self) -> None:
        questions = check_items(self.questions, Question, "questions")
        keys = [question.key for question in questions]
        if len(set(keys)) < len(keys):
            raise SchemaError("two questions have the same key", "questions")
        object.__setattr__(self, "questions", questions)
        object.__setattr__(self, "state", freeze(self.state, "state"))


@dataclass(frozen=True, slots=True)
class InputResponse(Immutable):
    """The answers to an `InputRequest`, in the order of its questions; None for one that the user declined."""

    request: InputRequest
    answers: tuple[JSONObject | None, ...]

    def __post_init__(self) -> None:
        check_class(self.request, InputRequest, "request")
        given = check_items(self.answers, object, "answers")
        if len(given) != len(self.request.questions):
            from .amounts import counted

            raise SchemaError(
                f"has {counted(len(given), 'item')} for {counted(len(self.request.questions), 'question')}", "answers"
            )
        frozen = tuple(None if each is None else freeze_object(each, f"answers[{i}]") for i, each in enumerate(given))
        object.__setattr__(self, "answers", frozen)

    @property
    def state(self) -> JSONValue:
        """The state of the tool, as it gave it."""
        return self.request.state

    def __getitem__(self, key: str) -> JSONObject | None:
        """Returns the answer to the question `key`; None if the user declined it."""
        for question, answer in zip(self.request.questions, self.answers, strict=True):
            if question.key == key:
                return answer
        raise KeyError(key)


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


_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class OutputAttempt(Immutable):
    """An answer that is not valid. `round` is the index of its reply in `steps` of the response, `text` its text.

    `problem` says what is wrong with it, `correction` is the message that the model was sent; it is empty after the
    last attempt. `usage` is that of the reply. `tool_call` is the call of the output tool that held the answer, if
    there was one: the model gets the correction as its result. An answer as text that a further call asks for as JSON
    has no `problem`.
    """

    round: int
    text: str
    problem: str
    correction: str = ""
    usage: Usage = _NO_USAGE
    tool_call: ToolCall | None = None

    def __post_init__(self) -> None:
        for name in ("text", "problem", "correction"):
            check_text(getattr(self, name), name)
        check_class(self.usage, Usage, "usage")
        if self.tool_call is not None:
            check_class(self.tool_call, ToolCall, "tool_call")


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
_STATUSES = get_args(LoopStatus)
_ITEMS = (
    ("replies", ModelReply),
    ("steps", ToolStep),
    ("output_attempts", OutputAttempt),
    ("pending", PendingCall),
    ("allowed", AllowedCall),
)
_HOSTED_LABELS: Mapping[HostedToolKind, tuple[ToolLabel, ...]] = {
    "web_search": ("untrusted",),
    "file_search": ("private",),
    "computer_use": ("private", "untrusted"),
    "code_interpreter": (),
    "tool_search": (),
}


def added_messages(
    replies: Sequence[ModelReply],
    steps: Sequence[ToolStep],
    output_attempts: Sequence[OutputAttempt] = (),
    *,
    as_sent: bool = False,
) -> tuple[Message, ...]:
    """Returns the messages that rounds add to a conversation: each reply, then the results of its calls or the
    correction of its answer. Results are left out while one of them is missing. With `as_sent`, an invalid answer in a
    call of the output tool is that call, and its correction the result; otherwise both are text, which needs no such
    tool.
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
    that wait, `allowed` those that may run and have no result yet. `found` names the deferred tools that the model has
    found. `usage`, `cost`, `estimated_cost` and `costs` cover all rounds, as those of a response do; also a request
    that the provider refused: what it cost is unknown. `content_labels` are those of the messages and files of `call`.
    With `needs_approval`, calls are not run without an approver: they wait.
    `requests` counts the requests of the next round of which a crash has left no reply: each may have been charged.
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
    allowed: tuple[AllowedCall, ...] = ()
    content_labels: tuple[ToolLabel, ...] = ()
    needs_approval: bool = False
    requests: int = 0
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_count(self.requests, "requests")
        check_class(self.call, ModelCall, "call")
        for name, kind in _ITEMS:
            object.__setattr__(self, name, check_items(getattr(self, name), kind, name))
        object.__setattr__(self, "found", check_items(self.found, str, "found"))
        check_choice(self.status, _STATUSES, "status")
        check_class(self.usage, Usage, "usage")
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))
        object.__setattr__(self, "cost_sums", checked_sums(self.cost_sums))
        object.__setattr__(self, "content_labels", check_labels(self.content_labels, "content_labels"))
        check_flag(self.needs_approval, "needs_approval")

    def __repr__(self) -> str:
        counts = {"rounds": self.replies, "steps": self.steps, "pending": self.pending}
        shown = [f"{name}={len(items):,}" for name, items in counts.items() if items]
        return f"ToolLoop({', '.join([repr(self.status), *shown, f'id={self.id!r}'])})"

    def with_(self, **changes: Any) -> ToolLoop:
        """Returns a copy with changed fields, which are validated like those of a new loop."""
        return replace(self, **changes)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the loop has added to the conversation so far; the results of a round when all of them are there."""
        return added_messages(self.replies, self.steps, self.output_attempts, as_sent=True)

    @property
    def labels(self) -> tuple[ToolLabel, ...]:
        """The labels of what the model had read when it wrote its last reply.

        They come from `content_labels`, results in the messages of `call` and of earlier rounds, and hosted tools:
        since providers do not always report their use, one that is offered counts as used.
        """
        read = set(self._labels_read())
        return tuple(label for label in ("private", "untrusted") if label in read)

    def _labels_read(self) -> Iterator[ToolLabel]:
        yield from self.content_labels
        for hosted in self.call.hosted_tools:
            yield from _HOSTED_LABELS[hosted.kind]
        for step in self.steps:
            if step.round < len(self.replies) - 1:
                yield from step.labels
        labelled = {tool.name: tool.labels for tool in self.call.tools if tool.labels}
        if labelled:
            for message in self.call.messages:
                for part in message.parts:
                    if isinstance(part, ToolCall):
                        yield from labelled.get(part.name, ())

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last reply that have no result yet, in order."""
        if not self.replies:
            return ()
        done = {step.call.id for step in self.steps if step.round == len(self.replies) - 1}
        return tuple(call for call in self.replies[-1].tool_calls if call.id not in done)


JournalKind = Literal["start", "request", "reply", "decision", "intent", "step", "end"]
"""What happened: the loop began; a request to the model is about to leave; the model replied; it was decided which
calls may run and which wait; a call is about to run; a call has its result; the loop ended or was suspended."""
_REQUIRED = {"start": "loop", "reply": "reply", "intent": "call", "step": "step", "end": "status"}
_CLASSES = {"loop": ToolLoop, "reply": ModelReply, "call": ToolCall, "step": ToolStep, "usage": Usage}


@dataclass(frozen=True, slots=True)
class JournalEntry(Immutable):
    """One event of a tool loop; which fields it has depends on `kind`.

    `start`: `loop`; one with a later state is a snapshot, which stands for all events before it. `request`: the index
    of its `round`, its `number` among those of the round, also before a crash, from 1, and the `digest` of its call.
    `reply`: `reply`, with the `attempt` if it is not a valid answer. `decision`: all calls that are
    `allowed` and `pending` from then on. `intent`: `call`. `step`: `step`. `end`: `status`. `usage`, `cost` and what
    explains the cost, of `reply` and `end`, are those of all rounds until then; at the end also of one that broke off.
    """

    kind: JournalKind
    loop: ToolLoop | None = None
    reply: ModelReply | None = None
    usage: Usage | None = None
    attempt: OutputAttempt | None = None
    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    allowed: tuple[AllowedCall, ...] = ()
    pending: tuple[PendingCall, ...] = ()
    call: ToolCall | None = None
    step: ToolStep | None = None
    status: LoopStatus | None = None
    round: int | None = None
    number: int | None = None
    digest: str | None = None
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

    def __post_init__(self) -> None:
        check_choice(self.kind, get_args(JournalKind), "kind")
        if self.kind == "request":
            check_count(self.round, "round")
            check_count(self.number, "number")
            check_text(self.digest, "digest")
        for name, kind in _CLASSES.items():
            if getattr(self, name) is not None or _REQUIRED.get(self.kind) == name:
                check_class(getattr(self, name), kind, name)
        if self.kind == "end":
            check_choice(self.status, get_args(LoopStatus), "status")
        for name, kind in (("allowed", AllowedCall), ("pending", PendingCall)):
            object.__setattr__(self, name, check_items(getattr(self, name), kind, name))
        object.__setattr__(self, "price_rows", check_items(self.price_rows, str, "price_rows"))
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))
        object.__setattr__(self, "cost_sums", checked_sums(self.cost_sums))
