"""What nodes get and return, as AbstractRuntime names it: plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from ..json_documents import JSON


class EffectType(StrEnum):
    """The effects of the kernel; any other name is that of an effect handler."""

    ASK_USER = "ask_user"
    ANSWER_USER = "answer_user"
    WAIT_EVENT = "wait_event"
    WAIT_UNTIL = "wait_until"
    EMIT_EVENT = "emit_event"
    START_SUBWORKFLOW = "start_subworkflow"


class RunStatus(StrEnum):
    """The status of a run."""

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class WaitReason(StrEnum):
    """Why a run waits. A decision about an interrupted effect is a user's, with the key `interrupted`."""

    EVENT = "event"
    UNTIL = "until"
    USER = "user"
    JOB = "job"
    SUBWORKFLOW = "subworkflow"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a node asks for. The result is stored in `vars` at the dotted path `result_key`."""

    type: str
    payload: dict[str, JSON] = field(default_factory=dict[str, JSON])
    result_key: str | None = None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What a node returns: an effect, the next node, or the output of the run."""

    node_id: str
    """The node that returned it."""
    effect: Effect | None = None
    next_node: str | None = None
    """The node after the effect."""
    complete_output: JSON = None
    """The output with which the run ends."""


@dataclass(frozen=True, slots=True)
class WaitState:
    """What a run waits for."""

    reason: WaitReason
    wait_key: str | None = None
    """The name of the wait, for whoever answers."""
    until: str | None = None
    resume_to_node: str | None = None
    """The node that goes on with the answer."""
    result_key: str | None = None
    """The name of the answer in `vars`."""
    prompt: str | None = None
    choices: list[str] | None = None
    """The answers to choose from, if they are limited."""
    allow_free_text: bool = True
    """Whether another answer than one of the choices is allowed."""
    details: JSON = None
    """What else the asking node has said."""


@dataclass(frozen=True, slots=True)
class EffectOutcome:
    """What an effect handler returns: a result, an error, or what the run waits for, whose answer is the result."""

    result: JSON = None
    error: str | None = None
    wait: WaitState | None = None
    """What the run waits for, if it does."""

    @classmethod
    def completed(cls, result: JSON = None) -> EffectOutcome:
        """Returns the outcome of an effect that was done."""
        return cls(result)

    @classmethod
    def waiting(cls, wait: WaitState) -> EffectOutcome:
        """Returns the outcome of an effect that a user, a job or an event ends."""
        return cls(wait=wait)

    @classmethod
    def failed(cls, error: str) -> EffectOutcome:
        """Returns the outcome of an effect that was not done: the run fails."""
        return cls(error=error)


@dataclass(slots=True)
class RunState:
    """A run. Nodes may change `vars`."""

    run_id: str
    workflow_id: str
    status: RunStatus
    current_node: str
    """The node that is next."""
    vars: dict[str, Any]
    waiting: WaitState | None = None
    """What it waits for, or None."""
    output: JSON = None
    error: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    session_id: str | None = None
    parent_run_id: str | None = None
    """The run that started it, or None."""


class NodeContext:
    """What a node may use."""

    def now_iso(self) -> str:
        """Returns the time, in UTC."""
        return datetime.now(UTC).isoformat()


Node: TypeAlias = Callable[[RunState, NodeContext], StepPlan]
Handler: TypeAlias = Callable[[RunState, Effect], EffectOutcome]


@dataclass(frozen=True, slots=True)
class WorkflowSpec:
    """Nodes by their ids."""

    workflow_id: str
    entry_node: str
    """The first node."""
    nodes: Mapping[str, Node]
    """A function for each node, by its name."""
