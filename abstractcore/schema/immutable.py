"""`Immutable`: the base of the schema's frozen dataclasses, and a copy of one with changes."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from .reprs import ShortRepr

T = TypeVar("T", bound="Immutable")


class Immutable(ShortRepr):
    """Base class of records that are immutable at every depth, so that `copy.deepcopy` returns the record itself.

    Otherwise a deep copy would hold plain dicts and lists where the record holds frozen ones.
    """

    __slots__ = ()

    def __deepcopy__(self: T, memo: object) -> T:
        return self


def with_valid(record: T, **changes: object) -> T:
    """Returns a copy of a record with changed fields, which must be valid and canonical: none is checked again.

    For changes with values of other records. Values of users, models and plugins need a new record, which checks them.
    """
    cls = type(record)
    made = object.__new__(cls)
    for name in cast(Any, cls).__dataclass_fields__:
        object.__setattr__(made, name, changes[name] if name in changes else getattr(record, name))
    return made
