"""The changes made to a schema, with their paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .rules import Effect

_MOST_SHOWN = 8


class Change(NamedTuple):
    """One change, with its path in the schema, such as `$.properties.size.oneOf`."""

    path: str
    what: str
    effect: Effect


@dataclass(slots=True)
class Changes:
    """The changes of one schema in order, and the number of schemas in it."""

    recorded: list[Change] = field(default_factory=list[Change])
    parts: int = 0

    def begin_again(self) -> None:
        """Removes all changes."""
        self.recorded.clear()
        self.parts = 0

    def same(self, path: str, what: str) -> None:
        """Adds a change that keeps the meaning."""
        self.recorded.append(Change(path, what, "same"))

    def narrower(self, path: str, what: str) -> None:
        """Adds a change after which fewer values are accepted, and no new ones."""
        self.recorded.append(Change(path, what, "narrower"))

    def looser(self, path: str, what: str) -> None:
        """Adds a change after which more values are accepted."""
        self.recorded.append(Change(path, what, "looser"))

    @property
    def effect(self) -> Effect:
        """The effect of all changes together: the worst one."""
        effects = {change.effect for change in self.recorded}
        return "looser" if "looser" in effects else "narrower" if "narrower" in effects else "same"

    def __str__(self) -> str:
        """The changes that loosen the schema, or all if none does."""
        listed = [change for change in self.recorded if change.effect == "looser"] or self.recorded
        shown = "; ".join(f"{change.path} {change.what}" for change in listed[:_MOST_SHOWN])
        left = len(listed) - _MOST_SHOWN
        return f"{shown}; and {left} more" if left > 0 else shown
