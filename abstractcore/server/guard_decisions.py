"""`GuardDecision`: what a guard has decided, for the audit log, counts, receipts and replies: never what was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Checked = Literal["call", "reply", "stream"]
"""What a guard has looked at."""
GuardOutcome = Literal["allowed", "changed", "refused", "failed_open", "failed_closed"]
"""A guard that fails, or takes too long, lets a call go on (open), or refuses it (closed)."""


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
