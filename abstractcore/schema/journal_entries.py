"""`JournalEntry`: one event of a tool loop, noted so that the loop can be continued after a crash."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

from .deferred_costs import CostSource
from .immutable import Immutable
from .json_values import check_choice, check_class, check_decimal, check_items
from .output_attempts import OutputAttempt
from .parts import ToolCall
from .pending_calls import AllowedCall, PendingCall
from .replies import ModelReply
from .tool_loops import LoopStatus, ToolLoop
from .tool_steps import ToolStep
from .usage import Usage

JournalKind = Literal["start", "reply", "decision", "intent", "step", "end"]
"""What happened: the loop began; the model replied; it was decided which calls may run and which wait; a call is about
to run; a call has its result; the loop ended or was suspended."""
_REQUIRED = {"start": "loop", "reply": "reply", "intent": "call", "step": "step", "end": "status"}
_CLASSES = {"loop": ToolLoop, "reply": ModelReply, "call": ToolCall, "step": ToolStep, "usage": Usage}


@dataclass(frozen=True, slots=True)
class JournalEntry(Immutable):
    """One event of a tool loop; which fields it has depends on `kind`.

    `start`: `loop`. `reply`: `reply`, with the `attempt` if it is not a valid answer. `decision`: all calls that are
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

    def __post_init__(self) -> None:
        check_choice(self.kind, get_args(JournalKind), "kind")
        for name, kind in _CLASSES.items():
            if getattr(self, name) is not None or _REQUIRED.get(self.kind) == name:
                check_class(getattr(self, name), kind, name)
        if self.kind == "end":
            check_choice(self.status, get_args(LoopStatus), "status")
        for name, kind in (("allowed", AllowedCall), ("pending", PendingCall)):
            object.__setattr__(self, name, check_items(getattr(self, name), kind, name))
        object.__setattr__(self, "price_rows", check_items(self.price_rows, str, "price_rows"))
        if self.cost is not None:
            object.__setattr__(self, "cost", check_decimal(self.cost, "cost"))
