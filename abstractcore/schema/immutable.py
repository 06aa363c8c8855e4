"""`Immutable`: the base of the schema's frozen dataclasses."""

from __future__ import annotations

from typing import TypeVar

from .reprs import ShortRepr

T = TypeVar("T", bound="Immutable")


class Immutable(ShortRepr):
    """A record that nobody can change to its leaves, so that `copy.deepcopy` returns it as it is, as it does a tuple.

    Without this a deep copy would hold plain dicts and lists where the record holds frozen ones.
    """

    __slots__ = ()

    def __deepcopy__(self: T, memo: object) -> T:
        return self
