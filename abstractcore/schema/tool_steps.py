"""`ToolStep`: one tool call that a loop has handled, with its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .call_warnings import CallWarning
from .error_records import ErrorRecord
from .immutable import Immutable
from .json_values import check_choice, check_class, check_items
from .parts import ToolCall, ToolResult
from .tools import ToolLabel, check_labels

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
class ToolStep(Immutable):
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

    @property
    def failed(self) -> bool:
        """Whether the tool was run, or should have been, and gave no result."""
        return self.outcome not in ("done", "denied", "not_run", "interrupted")
