"""`GuardDecision`: what a guard has decided, for the audit log, counts, receipts and replies: never what was said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, cast

from abstractcore.schema import ModelCall, ModelReply

Checked = Literal["call", "tool_call", "result", "reply", "stream"]
"""What a guard has looked at: a call; the call of a tool that the server is about to run; a call with its result; a
reply, or a stream."""
GuardOutcome = Literal["allowed", "changed", "refused", "failed_open", "failed_closed", "cancelled"]
"""A guard that fails, or takes too long, lets a call go on (open), or refuses it (closed). One is "cancelled" if the
client left, or the time for the call ended, before it had decided."""


@dataclass(slots=True)
class GuardDecision:
    """What the guard of the table `[guards.NAME]` called `guard` decided of a call of `model`. `changed` are the paths
    in the canonical call or reply that it changed, of a stream the blocks; `seconds` is how long it took.
    """

    guard: str
    checked: Checked
    model: str
    outcome: GuardOutcome = "allowed"
    changed: tuple[str, ...] = ()
    seconds: float = 0.0

    def add_changes(self, paths: tuple[str, ...]) -> None:
        """Adds paths that were changed."""
        self.changed += paths
        if self.outcome == "allowed":
            self.outcome = "changed"

    def data(self) -> dict[str, Any]:
        """Returns the decision as JSON data."""
        return {
            "guard": self.guard,
            "checked": self.checked,
            "model": self.model,
            "outcome": self.outcome,
            "changed": list(self.changed),
            "seconds": round(self.seconds, 6),
        }


def changed_fields(before: ModelCall | ModelReply, after: ModelCall | ModelReply) -> tuple[str, ...]:
    """Returns the paths in which two calls or replies differ, as in "messages[0].parts[1].text". Files are not read."""
    return tuple(_changed(before, after, ""))


def _changed(before: Any, after: Any, path: str) -> Iterator[str]:
    if before is after or before == after:
        return
    if is_dataclass(before) and type(before) is type(after):
        for each in fields(before):
            if each.compare:
                inner = f"{path}.{each.name}" if path else each.name
                yield from _changed(getattr(before, each.name), getattr(after, each.name), inner)
        return
    if isinstance(before, tuple) and isinstance(after, tuple):
        old, new = cast("tuple[Any, ...]", before), cast("tuple[Any, ...]", after)
        if len(old) == len(new):
            for index, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from _changed(one, other, f"{path}[{index}]")
            return
    yield path
