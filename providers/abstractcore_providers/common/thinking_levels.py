"""Thinking levels, for formats whose lowest level is "low"."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ThinkingLevel


def from_low(asked: ThinkingLevel | int | None, warnings: list[CallWarning]) -> ThinkingLevel | int | None:
    """Returns the level to send, with a warning for "minimal", which becomes "low"."""
    if asked != "minimal":
        return asked
    warnings.append(CallWarning("thinking_changed", "thinking", "'low' is the lowest level", asked, "low"))
    return "low"
