"""`Immutable`: the base of the schema's frozen dataclasses, and a copy of one with changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
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
    values_of, setters = _accessors(cls)
    for setter, value in zip(setters.values(), values_of(record), strict=True):
        setter(made, value)
    for name, value in changes.items():
        setters[name](made, value)
    return made


@cache
def _accessors(cls: type) -> tuple[Callable[[object], tuple[Any, ...]], dict[str, Callable[[object, Any], None]]]:
    """Returns the getter of the values of the fields of a record, and the setter of each: its slots, since it is
    frozen.
    """
    names = [field.name for field in fields(cast(Any, cls))]
    return attrgetter(*names), {name: getattr(cls, name).__set__ for name in names}
