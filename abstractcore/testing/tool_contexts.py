"""`tool_context`: the context of a tool in a unit test, without a call of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from ..concurrency import SyncRuntime
from ..ports import ToolContext
from ..schema import ToolCall, ToolProgress
from .clocks import VirtualClock

D = TypeVar("D")
_CALL = ToolCall("call_0_0", "tool", "{}")


@dataclass(frozen=True)
class RecordedContext(ToolContext[D]):
    """A `ToolContext` that keeps what the tool reported: `reported` has a `ToolProgress` for each `progress(...)`."""

    reported: list[ToolProgress] = field(default_factory=list[ToolProgress])

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Keeps the progress in `reported`."""
        self.reported.append(ToolProgress(self.call, done, total, message))


@overload
def tool_context(
    deps: None = None,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[Any]: ...
@overload
def tool_context(
    deps: D,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[D]: ...
def tool_context(
    deps: Any = None,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[Any]:
    """Returns a context to call a tool with in a test: `price("tea", tool_context(Shop(...)))`.

    `seconds_left` is the time until the call of `generate` would time out, on a clock that stands still. What the tool
    reports with `context.progress(...)` is in `reported`.
    """
    runtime = SyncRuntime(VirtualClock())
    deadline = None if seconds_left is None else runtime.now() + seconds_left
    return RecordedContext(deps, llm, call, trace_id, runtime, deadline)
