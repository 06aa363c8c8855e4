"""What is told of each plugin."""

from __future__ import annotations

from dataclasses import dataclass

SLOW_SECONDS = 0.5
"""A plugin that takes longer than this to load is reported."""


@dataclass(frozen=True, slots=True)
class PluginReport:
    """One entry point: what it is, what it registered, how long that took, and what went wrong with it, if anything.

    `registered` holds pairs of a kind ("provider", "tool source") and a name. With an error it is empty.
    """

    name: str
    target: str
    distribution: str
    registered: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    error: str | None = None

    @property
    def slow(self) -> bool:
        """Whether everybody who makes an LLM notices."""
        return self.seconds > SLOW_SECONDS
