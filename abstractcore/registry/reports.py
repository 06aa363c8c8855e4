"""`PluginReport`: the result of loading a plugin."""

from __future__ import annotations

from dataclasses import dataclass

SLOW_SECONDS = 0.5
"""A plugin that takes longer than this to load is reported."""


@dataclass(frozen=True, slots=True)
class PluginReport:
    """The result of loading an entry point: what it registered, its loading time, and its error, if it failed.

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
        """Whether loading took longer than `SLOW_SECONDS`, which delays the first `create_llm`."""
        return self.seconds > SLOW_SECONDS
