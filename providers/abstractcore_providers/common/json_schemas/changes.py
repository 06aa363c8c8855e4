"""The changes made to a schema, with their paths, and a cache of them: the same tools are sent again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from abstractcore.schema import JSONObject

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


T = TypeVar("T")
_MOST = 256
_LARGEST = 200


class SchemaRewriting(NamedTuple):
    """The rewritten schema, the effect of its changes (None if unchanged), and their description.

    `plain` is the schema of plain dicts and lists, for request bodies: pydantic writes those many times faster than
    frozen ones. Nobody may change it.
    """

    sent: JSONObject
    plain: JSONObject
    effect: Effect | None
    message: str
    lost: str = ""
    """The changes by which structure is lost; empty if there are none."""


class RewritingCache(Generic[T]):
    """Caches results for small schemas by identity, which is safe while they are referenced here. Cleared when full.

    Schemas of a call are immutable, so the same object has the same result by the same rules.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, bool], tuple[JSONObject, object, T]] = {}

    def find(self, schema: JSONObject, rules: object, is_tool: bool = True) -> T | None:
        """Returns the cached result; None if there is none."""
        kept = self._kept.get((id(schema), id(rules), is_tool))
        return None if kept is None else kept[2]

    def keep(self, schema: JSONObject, rules: object, result: T, parts: int, is_tool: bool = True) -> None:
        """Stores the result for a schema with this many parts."""
        if parts <= _LARGEST:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[id(schema), id(rules), is_tool] = schema, rules, result
