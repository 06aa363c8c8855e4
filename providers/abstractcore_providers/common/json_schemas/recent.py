"""The schemas that were rewritten lately: a list of tools is sent again and again."""

from __future__ import annotations

from typing import NamedTuple

from abstractcore.schema import JSONObject

from .rules import Effect, Rules

_MOST = 256
_LARGEST = 200


class Rewriting(NamedTuple):
    """What was sent for a schema, how much was changed (None if nothing was), and in which words that is told."""

    sent: JSONObject
    effect: Effect | None
    message: str


class Recent:
    """Remembers small schemas by their identity, which lasts as long as they are held here. Forgets all when full.

    Schemas of a call never change, so that the same one has the same rewriting.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, bool], tuple[JSONObject, Rules, Rewriting]] = {}

    def find(self, schema: JSONObject, rules: Rules, is_tool: bool) -> Rewriting | None:
        """What became of the schema; None if that is not known."""
        kept = self._kept.get((id(schema), id(rules), is_tool))
        return None if kept is None else kept[2]

    def keep(self, schema: JSONObject, rules: Rules, is_tool: bool, rewriting: Rewriting, parts: int) -> None:
        """Remember what became of a schema of so many parts."""
        if parts <= _LARGEST:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[id(schema), id(rules), is_tool] = schema, rules, rewriting
