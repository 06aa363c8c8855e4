"""Which fields of records, calls and replies are in the JSON of a row: those that neither have a column nor their
default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any

from ..schema import InteractionRecord

_IN_COLUMNS = frozenset(
    {"trace_id", "parent_id", "provider", "model", "operation", "outcome", "started_at", "seconds"}
    | {"seconds_to_first", "tags", "usage", "cost", "estimated_cost", "saved_cost"}
    | {"call_digest", "reply_digest", "call", "reply"}
)
OF_RECORD = ("model", "provider", "tags", "usage")
"""Fields of calls and replies that are those of their record, unless written."""


@cache
def defaults(cls: type) -> tuple[tuple[str, Any], ...]:
    """Returns the fields of a class with their defaults; `MISSING` for one that has none."""
    return tuple((field.name, field.default) for field in fields(cls))


@cache
def without_value(cls: type) -> Mapping[str, Any]:
    """Returns the JSON of fields that have no default, and are not written when they are empty."""
    required = {name for name, default in defaults(cls) if default is MISSING}
    values = {name: empty for name, empty in other_fields(cls).absent if name in required and empty is not MISSING}
    return {name: [] if empty == () else empty for name, empty in values.items()}


@dataclass(frozen=True, slots=True)
class RecordFields:
    """Fields of a class: `absent` has their names, each with the value that is not written."""

    absent: tuple[tuple[str, Any], ...]
    of: Callable[[Any], tuple[Any, ...]]

    @classmethod
    def named(cls, absent: tuple[tuple[str, Any], ...]) -> RecordFields:
        """Returns the fields with these names, of which there are several."""
        return cls(absent, attrgetter(*(name for name, _ in absent)))


@cache
def other_fields(cls: type) -> RecordFields:
    """Returns the fields of a record without a column. What is not written is the default, or for a field without one
    that of an empty field.
    """
    in_columns = _IN_COLUMNS | {"tool", *(["kind"] if cls is InteractionRecord else [])}
    return RecordFields.named(
        tuple(
            (field.name, _empty(str(field.type)) if field.default is MISSING else field.default)
            for field in fields(cls)
            if field.name not in in_columns
        )
    )


@cache
def fields_apart(cls: type, without: str) -> RecordFields:
    """Returns the fields of a call or a reply that its record has not."""
    return RecordFields.named(tuple(each for each in defaults(cls) if each[0] not in (without, *OF_RECORD)))


def _empty(annotation: str) -> Any:
    if annotation.startswith("tuple"):
        return ()
    if annotation == "bool":
        return False
    return None if annotation.endswith("| None") else MISSING
