"""`ToolStep`: one tool call that a loop has handled, with its result.

What a stream with tools yields beside deltas: the beginning, the progress and the end of tool calls. `ErrorRecord`:
an error as data. `CallProgress`: how far a backend has come with what it makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from .deltas import Delta
from .json_values import check_choice, check_class, check_items
from .parts import MediaPart, ToolCall, ToolResult
from .replies import CallWarning
from .reprs import Immutable, RichDisplay, ShortRepr
from .tools import ToolLabel, check_labels


@dataclass(frozen=True, slots=True)
class ErrorRecord(Immutable):
    """An error as data: the name of its class and its message."""

    type: str
    message: str
    status: int | None = None
    request_id: str | None = None
    retryable: bool = False


ToolOutcome = Literal[
    "done",
    "failed",
    "retry",
    "denied",
    "timed_out",
    "not_run",
    "interrupted",
    "unknown_tool",
    "invalid_arguments",
]
"""How a tool call ended: with a result; with an error; asking for a changed call; denied by approval; at its time
limit; without being run; cut off while it ran, so that it may have taken effect; for a tool that was not offered; with
arguments that do not match the tool."""
TOOL_OUTCOMES: tuple[ToolOutcome, ...] = (
    "done",
    "failed",
    "retry",
    "denied",
    "timed_out",
    "not_run",
    "interrupted",
    "unknown_tool",
    "invalid_arguments",
)


@dataclass(frozen=True, slots=True)
class ToolStep(Immutable, RichDisplay):
    """A tool call with its result. `round` is the index, in `steps` of the response, of the reply that made the call.

    `started_at` is in seconds since the epoch, `seconds` the duration. `data` is for the caller, and never sent to the
    model; so are `error` and `traceback`. `labels` are those of the content that the model reads because of the call.
    `artifact` is the SHA-256 of the whole text of a result that was shortened, in the artifact store. `requested` is
    the model's call, if an approval changed its arguments: `call` is the one that was run. The result of a `final` step
    ended the loop.
    """

    call: ToolCall
    result: ToolResult
    round: int
    outcome: ToolOutcome = "done"
    started_at: float = 0.0
    seconds: float = 0.0
    data: Any = None
    error: ErrorRecord | None = None
    traceback: str | None = None
    labels: tuple[ToolLabel, ...] = ()
    artifact: str | None = None
    requested: ToolCall | None = None
    warnings: tuple[CallWarning, ...] = ()
    final: bool = False

    def __post_init__(self) -> None:
        check_class(self.call, ToolCall, "call")
        check_class(self.result, ToolResult, "result")
        check_choice(self.outcome, TOOL_OUTCOMES, "outcome")
        object.__setattr__(self, "labels", check_labels(self.labels))
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))

    def __display__(self) -> tuple[object, ...]:
        return (self.call, self.result)

    def __display_row__(self) -> dict[str, object]:
        from .amounts import seconds
        from .displays import shown_call, shown_error

        return {
            "call": shown_call(self.call),
            "outcome": self.outcome,
            "result": self.result.as_text,
            "error": shown_error(self.error),
            "time": seconds(self.seconds),
        }

    @property
    def failed(self) -> bool:
        """Whether the tool was run, or should have been, and gave no result."""
        return self.outcome not in ("done", "denied", "not_run", "interrupted")


@dataclass(frozen=True, slots=True)
class ToolStarted(ShortRepr):
    """A tool begins to run. `round` is the number of the reply that called it, from 0."""

    type: ClassVar[str] = "tool_started"
    call: ToolCall
    round: int


@dataclass(frozen=True, slots=True)
class ToolProgress(ShortRepr):
    """A tool reports its progress: `done` of `total`, in units of its own, and a message.

    `dropped` is the number of the call's earlier events that a stream left out just before this one, since its reader
    was slow.
    """

    type: ClassVar[str] = "tool_progress"
    call: ToolCall
    done: float
    total: float | None = None
    message: str | None = None
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class ToolEnded(ShortRepr):
    """A tool call has its result."""

    type: ClassVar[str] = "tool_ended"
    step: ToolStep
    """The call with its result."""


ToolEvent: TypeAlias = ToolStarted | ToolProgress | ToolEnded
"""An event of tools in a stream, between the deltas."""
StreamEvent: TypeAlias = Delta | ToolEvent
"""What a stream yields: deltas, and with `run_tools` the events of tools between the deltas of two replies."""


@dataclass(frozen=True, slots=True)
class CallProgress(ShortRepr):
    """`done` of `total` steps, seconds or whatever `what` says; None if the total is not known. `part` is what is made
    so far, where the backend can show it.
    """

    done: float
    total: float | None
    what: str
    part: MediaPart | None = None
