"""`Immutable`: the base of the schema's frozen dataclasses."""

from __future__ import annotations

from typing import TypeVar

from .reprs import ShortRepr

T = TypeVar("T", bound="Immutable")


class Immutable(ShortRepr):
    """Base class of records that are immutable at every depth, so that `copy.deepcopy` returns the record itself.

    Otherwise a deep copy would hold plain dicts and lists where the record holds frozen ones.
    """

    __slots__ = ()

    def __deepcopy__(self: T, memo: object) -> T:
        return self
