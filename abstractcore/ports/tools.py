"""`ToolContext`: what a tool may know of the call that it is part of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .. import schema
from ..copying import NotCopied
from ..schema import ToolCall
from .runtimes import Runtime

D = TypeVar("D")


def _no_progress(done: float, total: float | None, message: str | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)  # with slots, `ToolContext[X](...)` raises a TypeError in Python 3.11
class ToolContext(NotCopied, Generic[D]):
    """A tool's view of its call. A parameter annotated with `ToolContext` gets it; the model does not see it.

    `deps` is the caller's own object, given as `generate(deps=...)`; it is never serialised, and given anew on resume.
    `llm` is the LLM of the call. `trace_id` is that of the loop, `deadline` the end of the call of `generate` on the
    runtime's clock, in seconds, or None. `input` holds the answers to what the tool asked before, by raising
    `InputRequired`.
    """

    _holds = "a running call"
    _instead = "Pass on what is needed of it, such as `context.deps` or `context.call`."

    deps: D = field(repr=False)
    llm: Any
    call: ToolCall
    trace_id: str
    runtime: Runtime = field(repr=False)
    deadline: float | None = None
    on_progress: Callable[[float, float | None, str | None], None] = field(default=_no_progress, repr=False)
    input: schema.InputResponse | None = None

    @property
    def call_id(self) -> str:
        """The id of the tool call."""
        return self.call.id

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the call of `generate` times out, or None."""
        return None if self.deadline is None else max(0.0, self.deadline - self.runtime.now())

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress: `done` of `total`, in units of the tool's own, as an event."""
        self.on_progress(done, total, message)
