"""Thinking options in a request's fields, written and read."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.schema import ThinkingLevel

from ...common.reading import Object
from .dialect import LEVELS, Field, ThinkingFields


def write_thinking(asked: ThinkingLevel | int, fields: ThinkingFields | None) -> Object | None:
    """Returns the field to send; None if it cannot be expressed."""
    if fields is None:
        return None
    if asked == "off":
        return _nested(*fields.off)
    if isinstance(asked, int):
        return None if fields.budget is None else _nested(fields.budget, asked)
    return None if fields.level is None else _nested(fields.level, fields.words.get(asked, asked))


def read_thinking(name: str, value: Any, fields: ThinkingFields | None) -> ThinkingLevel | int | None:
    """Reads a request's field; None if it is not set, or a call cannot express it."""
    if fields is None or name not in {field[0] for field in (fields.level, fields.off[0], fields.budget) if field}:
        return None
    off, word = fields.off
    found = _at(off, name, value)
    if type(found) is type(word) and found == word:
        return "off"
    level = None if fields.level is None else _at(fields.level, name, value)
    level = next((ours for ours, theirs in fields.words.items() if theirs == level), level)
    if isinstance(level, str) and level in LEVELS:
        return level
    budget = None if fields.budget is None else _at(fields.budget, name, value)
    return budget if type(budget) is int and budget >= 0 else None


def _nested(field: Field, value: str | bool | int) -> Object:
    nested: Any = value
    for name in reversed(field):
        nested = {name: nested}
    return nested


def _at(field: Field, name: str, value: Any) -> Any:
    """Returns the value at `field` if `name: value` has nothing else."""
    data: Any = {name: value}
    for key in field:
        if not isinstance(data, dict) or list(cast(Object, data)) != [key]:
            return None
        data = cast(Object, data)[key]
    return data
