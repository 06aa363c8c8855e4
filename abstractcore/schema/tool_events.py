"""What a stream with tools yields beside deltas: the beginning, the progress and the end of tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from .deltas import Delta
from .parts import ToolCall
from .reprs import ShortRepr
from .tool_steps import ToolStep


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


ToolEvent: TypeAlias = ToolStarted | ToolProgress | ToolEnded
StreamEvent: TypeAlias = Delta | ToolEvent
"""What a stream yields: deltas, and with `run_tools` the events of tools between the deltas of two replies."""
