"""Levels of thinking, for formats that begin with "low"."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ThinkingLevel


def from_low(asked: ThinkingLevel | int | None, warnings: list[CallWarning]) -> ThinkingLevel | int | None:
    """How much to ask for, with a warning for "minimal", which becomes "low"."""
    if asked != "minimal":
        return asked
    warnings.append(CallWarning("thinking_changed", "thinking", "'low' is the least there is", asked, "low"))
    return "low"
