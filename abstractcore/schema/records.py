"""`CallRecord`: one finished call as data, for cost tracking, dashboards and workflows.

Redacts calls and replies: keeps their structure and replaces texts and files by their sizes. `Plan`: what a call
would send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..lazy_modules import LazyModule
from .blobs import Blob
from .calls import Message, ModelCall, ToolSearch
from .json_values import EMPTY, JSONValue, freeze, freeze_object
from .media_decisions import MediaDecision
from .parts import (
    MEDIA_PARTS,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from .replies import CallWarning, CostSource, ModelReply, Usage, checked_cost
from .reprs import Immutable
from .responses import AttemptRecord
from .tool_steps import ErrorRecord

if TYPE_CHECKING:
    from . import evidence
else:
    evidence = LazyModule("abstractcore.schema.evidence")

Outcome = Literal["done", "failed", "cancelled", "abandoned"]
"""How a call ended: with a reply, with an error, by cancellation, or with a stream that was not read to its end."""

Capture = Literal["off", "redacted", "full"]
"""Whether records hold the call and the reply: not at all, only their sizes, or in full. Digests are always set."""


@dataclass(frozen=True, slots=True)
class CallRecord(Immutable):
    """One logical call with all its attempts.

    `started_at` is in seconds since the epoch, `seconds` the duration, `seconds_to_first` the time to a stream's first
    deltas. `call` and `reply` are in full, redacted (texts and files replaced by their sizes) or None, as the
    subscriber chose; their digests are always set. An interrupted reply holds what arrived. `usage` and `cost` cover
    all attempts of the call, as far as they were reported, and the conversions of its files, but for calls with records
    of their own, such as captions: sums over all records are what was spent. `cost` is in US dollars, exact, with its
    `cost_source`; it is None for the `cost_reason`. `price_rows` are the digests of the price rows that applied, each
    with the indexes of the conditions in it that held. `operation` is the requested operation; full records of
    operations other than chat hold its `result`. `input` is what it was requested for beside a call, such as the texts
    to embed, in full or redacted. `verification` is that of the answer, with `verify=True`; only full records hold its
    texts.
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
    reply_digest: str | None
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "result", freeze(self.result, "result"))
        object.__setattr__(self, "input", freeze(self.input, "input"))


AnyPart = TypeVar("AnyPart", bound=Part)


def redacted_call(call: ModelCall) -> ModelCall:
    """Returns `call` with texts and files replaced by their sizes, and without provider options."""
    messages = tuple(Message(message.role, tuple(_part(part) for part in message.parts)) for message in call.messages)
    hosted = tuple(replace(tool, options={}) for tool in call.hosted_tools)
    return replace(call, messages=messages, hosted_tools=hosted, provider_options={})


def redacted_reply(reply: ModelReply) -> ModelReply:
    """Returns `reply` with texts and files replaced by their sizes, and without provider metadata."""
    return replace(reply, parts=tuple(_part(part) for part in reply.parts), provider_metadata={})


def redacted_data(value: JSONValue) -> JSONValue:
    """Returns JSON data with texts replaced by their sizes."""
    if isinstance(value, str):
        return _size(value)
    if isinstance(value, Mapping):
        return {name: redacted_data(item) for name, item in value.items()}
    return [redacted_data(item) for item in value] if isinstance(value, list | tuple) else value


def _size(text: str) -> str:
    return f"[{len(text)} characters]" if text else ""


def _part(part: AnyPart) -> AnyPart:
    redacted: Any = part
    if isinstance(part, TextPart):
        redacted = TextPart(_size(part.text))
    elif isinstance(part, ReasoningPart):
        redacted = ReasoningPart(_size(part.text), origin=part.origin)
    elif isinstance(part, MEDIA_PARTS):
        redacted = type(part)(_blob(part.blob))
    elif isinstance(part, ToolCall):
        redacted = ToolCall(part.id, part.name, "{}")
    elif isinstance(part, HostedToolCall):
        redacted = HostedToolCall(part.id, part.name)
    elif isinstance(part, ToolResult):
        redacted = ToolResult(part.call_id, tuple(_part(content) for content in part.content), part.is_error)
    elif isinstance(part, HostedToolResult):
        redacted = HostedToolResult(part.call_id, tuple(_part(content) for content in part.content))
    else:
        redacted = OpaquePart(part.provider, part.kind)
    return redacted


def _blob(blob: Blob) -> Blob:
    """Returns a blob with the hash of the content only, or only its media type if it has no hash."""
    if blob.sha256 is None or blob.size is None:
        return Blob.from_url("redacted:", blob.media_type)
    return Blob.from_artifact(blob.sha256, blob.media_type, blob.size)


@dataclass(frozen=True, slots=True)
class CostRange(Immutable):
    """What a call may cost, in US dollars. `high` is None if nothing limits its output."""

    low: Decimal
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
