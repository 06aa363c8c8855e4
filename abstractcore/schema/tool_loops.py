"""`ToolLoop`: the state of a tool loop as data, which another process can continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

from .calls import ModelCall
from .deferred_costs import CostSource, HasDeferredCost, checked_cost
from .immutable import Immutable
from .json_values import check_choice, check_class, check_flag, check_items, check_text
from .loop_messages import added_messages
from .messages import Message
from .output_attempts import OutputAttempt
from .parts import ToolCall
from .pending_calls import AllowedCall, PendingCall
from .replies import ModelReply
from .tool_steps import ToolStep
from .tools import HostedToolKind, ToolLabel, check_labels
from .usage import Usage

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
_NO_USAGE = Usage()
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


@dataclass(frozen=True, slots=True)
class ToolLoop(HasDeferredCost, Immutable):
    """The state of a tool loop. `to_json(loop)` and `from_json` carry it to another process; `llm.resume` continues it.

    `id` is the trace id of the loop, `call` the call of its first round with all tools. `replies` has one entry for
    each round, `steps` the calls handled so far, `output_attempts` the answers that were not valid, `pending` the calls
    that wait, `allowed` those that may run and have no result yet. `found` names the deferred tools that the model has
    found. `usage` and `cost` cover all rounds, as those of a response do. `content_labels` are those of the messages
    and files of `call`. With `needs_approval`, calls are not run without an approver: they wait.
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

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_class(self.call, ModelCall, "call")
        for name, kind in _ITEMS:
            object.__setattr__(self, name, check_items(getattr(self, name), kind, name))
        object.__setattr__(self, "found", check_items(self.found, str, "found"))
        check_choice(self.status, _STATUSES, "status")
        check_class(self.usage, Usage, "usage")
        object.__setattr__(self, "cost", checked_cost(self.cost))
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
