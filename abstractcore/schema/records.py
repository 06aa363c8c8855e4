"""`CallRecord`: one finished call as data, for cost tracking, dashboards and workflows. `InteractionRecord`: what
several calls and tool runs belong to; `ToolRecord`: one tool run. Together they are a tree.

`Plan`: what a call would send.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from ..lazy_modules import LazyModule
from .calls import ModelCall, ToolSearch
from .costs import CostSource, checked_cost
from .json_values import EMPTY, JSONValue, freeze, freeze_object
from .media_decisions import MediaDecision
from .parts import (
    ToolResult,
)
from .replies import CallWarning, ModelReply, Usage
from .reprs import Immutable, RichDisplay
from .responses import AttemptRecord
from .tool_steps import ErrorRecord, ToolOutcome

if TYPE_CHECKING:
    from . import evidence, tool_loops
else:
    evidence = LazyModule("abstractcore.schema.evidence")
    tool_loops = LazyModule("abstractcore.schema.tool_loops")

Outcome = Literal["done", "failed", "cancelled", "abandoned"]
"""How a call ended: with a reply, with an error, by cancellation, or with a stream that was not read to its end."""

Capture = Literal["off", "redacted", "full"]
"""Whether records hold the call and the reply: not at all, only their sizes, or in full. Digests are always set."""


@dataclass(frozen=True, slots=True)
class CallRecord(Immutable, RichDisplay):
    """One logical call with all its attempts.

    `started_at` is in seconds since the epoch, `seconds` the duration, `seconds_to_first` the time to a stream's first
    deltas, `seconds_waited` the time in which it waited for limits. `call` and `reply` are in full, redacted (texts
    and files replaced by their sizes) or None, as the subscriber chose; their digests are always set. An
    interrupted reply holds what arrived. `usage` and `cost` cover all attempts of the call, as far as they were
    reported, and the conversions of its files, but for calls with records of their own, such as captions: sums over
    all records are what was spent. `cost` is in US dollars, exact, with its `cost_source`; it is None for the
    `cost_reason`. `estimated_cost` is about what was spent beside it: on requests that left, and ended without
    reporting their tokens, as at a time limit; without a `cost`, on the whole call. If both are None, what was
    spent is unknown. An answer that is `discarded` was asked for again. `price_rows` are the digests of the price
    rows that applied, each with the indexes of the conditions in it that held. `operation` is the requested
    operation; full records of operations other than chat hold its `result`. `input` is what it was requested for
    beside a call, such as the texts to embed, in full or redacted. `verification` is that of the answer, with
    `verify=True`; only full records hold its texts. `trace_context` is the span of another tracing system that it
    belongs to, as W3C Trace Context. `capture` is how much content the subscriber asked for; None in records of
    earlier versions. An answer of a cache has the time at which it was asked for, `cached_at`, in seconds since the
    epoch, and the `saved_cost` in US dollars, as far as prices are known; its `cost` is 0.
    """

    trace_id: str
    parent_id: str | None
    provider: str
    model: str
    outcome: Outcome
    streamed: bool
    started_at: float
    seconds: float
    seconds_to_first: float | None
    call_digest: str
    """SHA-256 of the call as JSON: equal for equal calls."""
    reply_digest: str | None
    """SHA-256 of the reply as JSON; None without one."""
    call: ModelCall | None
    reply: ModelReply | None
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    cost: Decimal | None
    media: tuple[MediaDecision, ...]
    warnings: tuple[CallWarning, ...]
    error: ErrorRecord | None
    tags: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    operation: str = "chat"
    result: JSONValue = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    verification: evidence.Verification | None = None
    input: JSONValue = None
    estimated_cost: Decimal | None = None
    discarded: bool = False
    trace_context: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    cached_at: float | None = None
    saved_cost: Decimal | None = None
    capture: Capture | None = None
    seconds_waited: float = 0.0

    def __post_init__(self) -> None:
        if self.saved_cost is not None:
            object.__setattr__(self, "saved_cost", checked_cost(self.saved_cost, "saved_cost"))
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "trace_context", freeze_object(self.trace_context, "trace_context"))
        object.__setattr__(self, "result", freeze(self.result, "result"))
        object.__setattr__(self, "input", freeze(self.input, "input"))

    def __display__(self) -> Iterator[object]:
        from .displays import DisplayTable, FoldedBlocks

        yield DisplayTable([self.__display_row__()])
        if self.call is not None and self.call.messages:
            yield FoldedBlocks("Request", self.call.messages[-1:])
        if self.reply is not None:
            yield self.reply

    def __display_row__(self) -> dict[str, object]:
        from .amounts import cost_of

        row = _row(self, self.model, self.operation)
        row |= {"tokens in": self.usage.input, "tokens out": self.usage.output}
        return row | {"cost": cost_of(self.cost, self.estimated_cost, self.saved_cost)}


def _row(record: TraceRecord, name: str, kind: str) -> dict[str, object]:
    """Returns the cells that all records have in a table."""
    from .amounts import moment, seconds
    from .displays import shown_error

    return {
        "name": name,
        "kind": kind,
        "outcome": record.outcome,
        "error": shown_error(record.error),
        "began": moment(record.started_at),
        "time": seconds(record.seconds),
    }


InteractionKind = Literal["tools", "correction", "media", "batches"]
"""Why there may be several calls: tools are run between them; the answer did not match its type, and was asked for
again; the answer is spoken, or drawn; a list, as of texts to embed, takes several requests."""


@dataclass(frozen=True, slots=True)
class InteractionRecord(Immutable, RichDisplay):
    """An interaction that took several calls, or ran tools: the parent of their records. It has no tokens and no cost
    of its own, so that sums over all records are what was spent.

    `trace_id` is that of the response, and of its loop: a loop that was suspended and is continued has a further
    record with the same id, which replaces the earlier one. `started_at` and `seconds` are then those of the
    continuation; `calls` and `tool_runs` count the rounds and steps of all of it. `status` is that of its loop, if it
    has one: an interaction that is "suspended", or that a limit has ended, is "done" as well. `trace_context` and
    `capture` are as in a `CallRecord`.
    """

    trace_id: str
    parent_id: str | None
    kind: InteractionKind
    provider: str
    model: str
    outcome: Outcome
    streamed: bool
    started_at: float
    seconds: float
    seconds_to_first: float | None
    calls: int
    tool_runs: int = 0
    status: tool_loops.LoopStatus | None = None
    error: ErrorRecord | None = None
    warnings: tuple[CallWarning, ...] = ()
    tags: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    trace_context: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    capture: Capture | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "trace_context", freeze_object(self.trace_context, "trace_context"))

    def __display_row__(self) -> dict[str, object]:
        return _row(self, self.model, self.kind)


ApprovalDecision = Literal["allowed", "edited", "denied", "answered"]
"""What was decided about a tool call: it may run; it may run with other arguments; it must not run; its result was
given instead."""
ApprovalSource = Literal["approver", "answer"]
"""Who decided: the function in `approve`, or an answer to a call that waited."""


@dataclass(frozen=True, slots=True)
class ToolApproval(Immutable):
    """The decision about a tool call that needed one, and who made it. `requested` are the arguments that the model had
    given, if they were changed; records without content leave it out.
    """

    decision: ApprovalDecision
    by: ApprovalSource
    requested: JSONValue = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "requested", freeze(self.requested, "requested"))


ToolSource = Literal["function", "mcp", "a2a", "own", "answer"]
"""Where a result came from: a function of this program; a server of tools; an agent; the loop itself, as that of
`search_tools`; an answer that was given for a call that waited."""


@dataclass(frozen=True, slots=True)
class ToolRecord(Immutable, RichDisplay):
    """One tool call that a loop has handled: also one that was refused, or cut off while it ran.

    `parent_id` is the interaction's, `call_id` the model's id of the call, `round` the index of the reply that made
    it. Calls of models that the tool makes have its `trace_id` as their parent. `source` is None for a tool that was
    not offered; `server` names the server or agent. `arguments` and `result` are in full, redacted or None, as the
    subscriber chose; arguments that are not a JSON object are text. `approval` is None for a call that needed none.
    `cost` is the declared price of a run, in US dollars; None if none is declared, or it was not run. `trace_context`
    and `capture` are as in a `CallRecord`.
    """

    trace_id: str
    parent_id: str
    tool: str
    call_id: str
    source: ToolSource | None
    outcome: ToolOutcome
    started_at: float
    seconds: float
    round: int = 0
    server: str | None = None
    arguments: JSONValue = None
    result: ToolResult | None = None
    approval: ToolApproval | None = None
    error: ErrorRecord | None = None
    warnings: tuple[CallWarning, ...] = ()
    cost: Decimal | None = None
    tags: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    trace_context: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    capture: Capture | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "arguments", freeze(self.arguments, "arguments"))
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "trace_context", freeze_object(self.trace_context, "trace_context"))

    def __display__(self) -> Iterator[object]:
        from .displays import DisplayTable, shown_json

        yield DisplayTable([self.__display_row__()])
        yield shown_json(self.arguments)
        if self.result is not None:
            yield self.result

    def __display_row__(self) -> dict[str, object]:
        return _row(self, self.tool, "tool") | {"cost": self.cost}


TraceRecord: TypeAlias = CallRecord | InteractionRecord | ToolRecord
"""What a subscriber with `records="all"` is notified of. `parent_id` of each names another one, or what the user
gave."""


@dataclass(frozen=True, slots=True)
class CostRange(Immutable):
    """What a call may cost, in US dollars. `high` is None if nothing limits its output."""

    low: Decimal
    """The least that the call may cost, in US dollars."""
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Plan(Immutable, Sequence[MediaDecision]):
    """What a call would send: a sequence of the decisions for its files, with the warnings known without sending.

    `warnings` name what the model does not support, and unused options. What the provider's wire format cannot
    say is known when the request is written: those warnings are in the response only. `tool_search` is where deferred
    tools are searched: "hosted" (by the provider) or "client" (in this program); None if no tool is deferred.

    `estimated_input_tokens` is about how many tokens the first request has: messages, tools, answer type and files.
    `estimated_cost` is what this request may cost: at least the input at the price of cached tokens, at most an input
    half as long again with the longest output. It has no fees of hosted tools, no conversions of files by other models,
    and no further requests of a tool loop; None if the prices of the model are unknown.
    """

    media: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    tool_search: ToolSearch | None = None
    estimated_input_tokens: int | None = None
    estimated_cost: CostRange | None = None

    def __len__(self) -> int:
        return len(self.media)

    @overload
    def __getitem__(self, index: int) -> MediaDecision: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MediaDecision, ...]: ...

    def __getitem__(self, index: int | slice) -> MediaDecision | tuple[MediaDecision, ...]:
        return self.media[index]
