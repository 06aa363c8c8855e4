"""The cost of a response, computed when it is first read, which most programs never do."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from .json_values import check_decimal

CostSource: TypeAlias = Literal["vendor", "computed", "estimate"]
"""Whether the vendor reported a cost, or it was computed from the price list, from known facts or with assumptions."""


class Cost(NamedTuple):
    """US dollars and their source, or None and the reason; and the digests of the price rows that applied.

    Its fields are those of a response.
    """

    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()


FindCost: TypeAlias = Callable[[], Cost]
_FIELDS: Final = Cost._fields


class HasDeferredCost:
    """Base class of frozen dataclasses with the fields of `Cost`, which may be computed when one is first read."""

    __slots__ = ("_find_cost",)
    _find_cost: FindCost

    if not TYPE_CHECKING:  # for a type checker, a class with this method has every attribute

        def __getattr__(self, name: str) -> Any:
            """Computes the cost; called for fields without a value."""
            if name in _FIELDS:
                found = self._find_cost()
                for field, value in zip(_FIELDS, found._replace(cost=checked_cost(found.cost)), strict=True):
                    object.__setattr__(self, field, value)
            return object.__getattribute__(self, name)


def defer_cost(response: HasDeferredCost, find_cost: FindCost) -> None:
    """Removes the cost of a new response; `find_cost` returns it when it is first read."""
    object.__setattr__(response, "_find_cost", find_cost)
    for field in _FIELDS:
        object.__delattr__(response, field)


def checked_cost(cost: object) -> Decimal | None:
    """Returns `cost` without trailing zeros; raises `SchemaError` unless it is None or a `Decimal` of at least 0."""
    return None if cost is None else check_decimal(cost, "cost")
