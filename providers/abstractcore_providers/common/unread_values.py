"""Values of a response whose type is not that of their field: each becomes a warning of the reply.

A value of another type is read as absent. Whoever decodes a response sets `UNREAD` to a dictionary for as long, and
adds its warnings to the reply; the readers of fields add to it. It is set for the current thread or task alone, and
without it, as when a client's request is read, nothing is noted.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, TypeAlias

from abstractcore.schema import CallWarning

UnreadValues: TypeAlias = dict[tuple[str, str], CallWarning]
"""Warnings by the field and the type that was received: a stream may repeat them in each event."""
UNREAD: ContextVar[UnreadValues | None] = ContextVar("unread_values", default=None)
_TYPES: dict[Any, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}


def note_unread(field: str, expected: str, value: Any) -> None:
    """Notes that `field` has a `value` that is not what is `expected` of it; the value itself is not repeated."""
    found = UNREAD.get()
    if found is not None:
        note_in(found, field, expected, value)


def note_in(found: UnreadValues, field: str, expected: str, value: Any) -> None:
    """Adds the warning that `field` has a `value` that is not what is `expected` of it."""
    received = "null" if value is None else _TYPES.get(type(value), "a number")
    if (field, received) not in found:
        message = f"the provider sent {received} as {field!r} instead of {expected}"
        found[field, received] = CallWarning("unexpected_type", field, message)
