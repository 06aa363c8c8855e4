"""The changes made to a schema, with their paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .rules import Effect

_MOST_SHOWN = 8


class SchemaChange(NamedTuple):
    """One change, with its path in the schema, such as `$.properties.size.oneOf`."""

    path: str
    what: str
    effect: Effect
    is_structural: bool = False
    """Whether the schema no longer describes the shape of all values: keys, positions or a recursion are lost."""


@dataclass(slots=True)
class SchemaChanges:
    """The changes of one schema in order, and the number of schemas in it."""

    recorded: list[SchemaChange] = field(default_factory=list[SchemaChange])
    parts: int = 0

    def begin_again(self) -> None:
        """Removes all changes."""
        self.recorded.clear()
        self.parts = 0

    def same(self, path: str, what: str) -> None:
        """Adds a change that keeps the meaning."""
        self.recorded.append(SchemaChange(path, what, "same"))

    def narrower(self, path: str, what: str, *, is_structural: bool = False) -> None:
        """Adds a change after which fewer values are accepted, and no new ones."""
        self.recorded.append(SchemaChange(path, what, "narrower", is_structural))

    def looser(self, path: str, what: str, *, is_structural: bool = False) -> None:
        """Adds a change after which more values are accepted."""
        self.recorded.append(SchemaChange(path, what, "looser", is_structural))

    @property
    def effect(self) -> Effect:
        """The effect of all changes together: the worst one."""
        effects = {change.effect for change in self.recorded}
        return "looser" if "looser" in effects else "narrower" if "narrower" in effects else "same"

    @property
    def lost(self) -> str:
        """The changes by which structure is lost; empty if there are none."""
        return _list_changes([change for change in self.recorded if change.is_structural])

    def __str__(self) -> str:
        """The changes that loosen the schema, or all if none does."""
        return _list_changes([change for change in self.recorded if change.effect == "looser"] or self.recorded)


def _list_changes(changes: Sequence[SchemaChange]) -> str:
    shown = "; ".join(f"{change.path} {change.what}" for change in changes[:_MOST_SHOWN])
    left = len(changes) - _MOST_SHOWN
    return f"{shown}; and {left} more" if left > 0 else shown
