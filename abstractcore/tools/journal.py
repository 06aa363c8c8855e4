"""`Journal`: notes each step of a tool loop before it matters, so that a loop can be continued after a crash."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

from ..schema import ToolLoop

JournalKind: TypeAlias = Literal["start", "reply", "intent", "step", "end"]
"""What is noted: the loop before its first round; a reply; a call that is about to run; its step; the loop's end."""


class Journal(Protocol):
    """Notes of one loop. Its method may be called from several threads at once."""

    def note(self, loop: ToolLoop, kind: JournalKind, **data: Any) -> None:
        """Notes `kind` with its `data`, durably, before it returns; `loop` is the state at that time."""
        ...
