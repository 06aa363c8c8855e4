"""`GenerateResponse`: the result of a call: the reply, with attempts, usage, cost and media decisions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Generic, Literal, TypeVar, overload

from .base_error import SchemaError
from .call_warnings import CallWarning
from .calls import ToolSearch
from .deferred_costs import CostSource, HasDeferredCost, checked_cost
from .display import Displayed, small_print
from .evidence import EvidenceMap
from .immutable import Immutable
from .messages import Message
from .output_attempts import OutputAttempt
from .parts import MediaKind, Part, ToolCall
from .pending_calls import PendingCall
from .replies import FinishReason, ModelReply
from .reprs import ShortRepr, short_repr
from .tool_loops import ToolLoop, added_messages
from .tool_steps import ToolStep
from .usage import Usage

T = TypeVar("T")
_NO_EVIDENCE = EvidenceMap()
MediaRoute = Literal["native", "inline", "fallback"]


@dataclass(frozen=True, slots=True)
class MediaSent(Immutable):
    """The content sent in place of a file: its media type, its size in bytes, and its text, if it is text.

    The model gets the text with a label and delimiters around it. If a file became several parts, such as images of its
    pages, `media_type` is "multipart/mixed", `size` is the total, and `parts` has one entry for each, in order. `pages`
    has the start and the end of each page in `text`, if the file has pages.
    """

    media_type: str
    size: int | None
    text: str | None = None
    parts: tuple[MediaSent, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MediaDecision(Immutable):
    """How one file is sent, and why.

    `route` is "native" (the file itself), "inline" (a text file as text) or "fallback" (the output of `handler`).
    `outputs` is what the handler may produce for this model: "text", or media types such as "image/png"; empty for a
    file that is sent natively. `sent` and `usage` are None in a plan, which sends nothing; `usage` is also None if the
    handler called no model.
    """

    part_path: str
    source: str
    type: str
    kind: MediaKind
    route: MediaRoute
    reason: str
    handler: str | None = None
    sent: MediaSent | None = None
    usage: Usage | None = None
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan(Immutable, Sequence[MediaDecision]):
    """What a call would send: a sequence of the decisions for its files, with the warnings known without sending.

    `warnings` name what the model does not support, and unused options. What the provider's wire format cannot
    say is known when the request is written: those warnings are in the response only. `tool_search` is where deferred
    tools are searched: "hosted" (by the provider) or "client" (in this program); None if no tool is deferred.
    """

    media: tuple[MediaDecision, ...] = ()
    warnings: tuple[CallWarning, ...] = ()
    tool_search: ToolSearch | None = None

    def __len__(self) -> int:
        return len(self.media)

    @overload
    def __getitem__(self, index: int) -> MediaDecision: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[MediaDecision, ...]: ...

    def __getitem__(self, index: int | slice) -> MediaDecision | tuple[MediaDecision, ...]:
        return self.media[index]


@dataclass(frozen=True, slots=True)
class AttemptRecord(Immutable):
    """One attempt: when it began (seconds since the epoch), its duration in seconds, and its error, if it failed."""

    number: int
    started_at: float
    seconds: float
    status: int | None = None
    request_id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class GenerateResponse(HasDeferredCost, ShortRepr, Displayed, Generic[T]):
    """The answer, with the tokens and the cost of all attempts, and media decisions.

    `cost` is in US dollars, exact; it is None for the `cost_reason`. `cost_source` is "vendor" if the provider reported
    it, "computed" from the price list, or "estimate" if that took assumptions. `price_rows` are the digests of the
    price rows that applied. `steps` has one reply for each round, `tool_steps` the tool calls of all rounds with their
    results, `output_attempts` the answers that were not valid; `loop` is the state of a call with `run_tools`, else
    None. `output` is the answer validated as the `response_model`, else None. Read back from JSON, it is JSON data.
    `evidence` has the quote for each of its values, checked, of a call with `evidence=True`.
    """

    reply: ModelReply
    output: T
    steps: tuple[ModelReply, ...]
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    warnings: tuple[CallWarning, ...]
    media: tuple[MediaDecision, ...]
    provider: str
    model: str
    cost: Decimal | None
    trace_id: str
    seconds: float
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    tool_steps: tuple[ToolStep, ...] = ()
    output_attempts: tuple[OutputAttempt, ...] = ()
    loop: ToolLoop | None = None
    evidence: EvidenceMap = _NO_EVIDENCE

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to add to the conversation: the answer; with `run_tools` also the replies and results before."""
        return added_messages(self.steps, self.tool_steps, self.output_attempts)

    @property
    def content(self) -> str:
        """The text of the answer, or of the result of a final tool."""
        final = next((step for step in reversed(self.tool_steps) if step.final), None)
        return self.reply.text if final is None else final.result.as_text

    @property
    def message(self) -> Message:
        """The answer as the assistant's message of a conversation; raises `SchemaError` if the answer is empty."""
        message = self.reply.message()
        if message is None:
            raise SchemaError(
                f"the answer is empty (it ended with {self.finish_reason!r}): there is no message", "reply"
            )
        return message

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the answer in order: text, reasoning, tool calls, media."""
        return self.reply.parts

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the model, in order."""
        return self.reply.tool_calls

    @property
    def pending(self) -> tuple[PendingCall, ...]:
        """The tool calls that wait for an answer, or for a result from elsewhere: `llm.resume(response, answers)`."""
        return () if self.loop is None else self.loop.pending

    @property
    def reasoning(self) -> str:
        """The text of the reasoning, if the provider returns it."""
        return self.reply.reasoning

    @property
    def finish_reason(self) -> FinishReason:
        """Why the model stopped."""
        return self.reply.finish_reason

    def __str__(self) -> str:
        return self.content

    def _repr_html_(self) -> str:
        """Returns the answer as HTML, with its finish reason and warnings below it."""
        ended = f"{self.provider}/{self.model}: {self.finish_reason}"
        return Displayed._repr_html_(self) + small_print(ended, *map(str, self.warnings))

    def __repr__(self) -> str:
        shown = {
            "output": self.output,
            "tool_calls": self.tool_calls or None,
            "tool_steps": len(self.tool_steps) or None,
            "loop": None if self.loop is None or self.loop.status == "answered" else self.loop.status,
            "finish_reason": self.finish_reason,
            "model": f"{self.provider}/{self.model}",
            "usage": self.usage,
            "cost": self.cost,
            "media": len(self.media) or None,
            "warnings": len(self.warnings) or None,
        }
        given = [f"{name}={short_repr(value)}" for name, value in shown.items() if value is not None]
        return f"GenerateResponse({', '.join([short_repr(self.content), *given])})"

    def __deepcopy__(self, memo: dict[int, object]) -> GenerateResponse[T]:
        """Returns a copy with a deep copy of `output`: everything else is immutable."""
        return replace(self, output=deepcopy(self.output, memo))
