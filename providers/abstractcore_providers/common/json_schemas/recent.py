"""A cache of what was computed of schemas, since the same tools are sent again and again."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from abstractcore.schema import JSONObject

from .rules import Effect

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
