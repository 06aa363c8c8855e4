"""What calls cost, in US dollars: known, estimated and unknown are three sums, and unknown is never 0.

The cost of a response is computed when it is first read, which most programs never do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, cast

from .json_values import check_class, check_count, check_decimal
from .reprs import Immutable

CostSource: TypeAlias = Literal["vendor", "computed", "estimate"]
"""Whether the vendor reported a cost, or it was computed from the price list, from known facts or with assumptions."""
WEAKEST_FIRST: Final[tuple[CostSource, ...]] = ("estimate", "computed", "vendor")
_EXACT: Final = Context(prec=100, traps=[])
"""Sums do not depend on the program's decimal context."""
_NO_DOLLARS: Final = Decimal(0)


class _HasCost(Protocol):
    @property
    def cost(self) -> Decimal | None: ...

    @property
    def estimated_cost(self) -> Decimal | None: ...


class _HasSums(_HasCost, Protocol):
    @property
    def cost_sums(self) -> CostSums | None: ...


@dataclass(frozen=True, slots=True)
class CostSums:
    """Sums in US dollars: `known` is what providers reported or prices say, `estimated` what is not reported, as of a
    cut stream; `unknown` counts the calls that have neither. They are never added up. `saved` was not spent: it is what
    the answers of caches cost when they were asked for, as far as prices are known.
    """

    known: Decimal = _NO_DOLLARS
    estimated: Decimal = _NO_DOLLARS
    unknown: int = 0
    saved: Decimal = _NO_DOLLARS

    def __post_init__(self) -> None:
        for name in ("known", "estimated", "saved"):
            dollars = getattr(self, name)
            if dollars is not _NO_DOLLARS:
                object.__setattr__(self, name, check_decimal(dollars, name))
        check_count(self.unknown, "unknown")

    def __add__(self, other: CostSums) -> CostSums:
        """Returns the sums of both, exact."""
        known, estimated = _EXACT.add(self.known, other.known), _EXACT.add(self.estimated, other.estimated)
        return CostSums(known, estimated, self.unknown + other.unknown, _EXACT.add(self.saved, other.saved))

    @classmethod
    def of(cls, record: Immutable) -> CostSums:
        """Returns what one record adds: the cost of a call; the declared price of a tool run, if it has one; nothing
        for an interaction.
        """
        if hasattr(record, "estimated_cost"):
            return cls.of_call(cast("_HasCost", record))
        return cls(getattr(record, "cost", None) or _NO_DOLLARS)

    @classmethod
    def of_call(cls, call: _HasCost) -> CostSums:
        """Returns what a single call adds, by its `cost`, its `estimated_cost`, and its `saved_cost` if it has one."""
        is_unknown = call.cost is None and call.estimated_cost is None
        saved: Decimal | None = getattr(call, "saved_cost", None)
        return cls(call.cost or _NO_DOLLARS, call.estimated_cost or _NO_DOLLARS, int(is_unknown), saved or _NO_DOLLARS)

    @classmethod
    def of_calls(cls, calls: Sequence[_HasCost]) -> CostSums:
        """Returns what several calls add, as the sum of `of_call`; faster for many."""
        known = reduce(_EXACT.add, (each.cost for each in calls if each.cost is not None), _NO_DOLLARS)
        estimates = (each.estimated_cost for each in calls if each.estimated_cost is not None)
        unknown = sum(each.cost is None and each.estimated_cost is None for each in calls)
        saved = (dollars for each in calls if (dollars := getattr(each, "saved_cost", None)) is not None)
        estimated = reduce(_EXACT.add, estimates, _NO_DOLLARS)
        return cls(known, estimated, unknown, reduce(_EXACT.add, saved, _NO_DOLLARS))

    def without(self, other: CostSums) -> CostSums:
        """Returns the sums less those of `other`, which are part of them."""
        known, estimated = _EXACT.subtract(self.known, other.known), _EXACT.subtract(self.estimated, other.estimated)
        return CostSums(known, estimated, self.unknown - other.unknown, _EXACT.subtract(self.saved, other.saved))


class Cost(NamedTuple):
    """US dollars and their source, or None and the reason; and the digests of the price rows that applied.

    `estimated_cost` is about what was spent beside `cost`, or all of it without one. `cost_sums` are the sums of
    several calls, or of the answer of a cache, where they do not follow from these. Its fields are those of a response.
    """

    cost: Decimal | None = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

    @property
    def costs(self) -> CostSums:
        """The sums."""
        return CostSums.of_call(self) if self.cost_sums is None else self.cost_sums

    def with_sums(self, sums: CostSums) -> Cost:
        """Returns the cost of several calls, with their sums unless these follow from the other fields."""
        return self._replace(cost_sums=None if sums == CostSums.of_call(self) else sums)


class _Costed(_HasCost, Protocol):
    @property
    def cost_source(self) -> CostSource | None: ...

    @property
    def cost_reason(self) -> str | None: ...

    @property
    def price_rows(self) -> tuple[str, ...]: ...

    @property
    def costs(self) -> CostSums: ...


def total_cost(costs: Sequence[_Costed]) -> Cost:
    """Returns the cost of several calls. Its source is the weakest of theirs; without the cost of one of them, that of
    all is unknown, but for its sums.
    """
    rows = tuple(dict.fromkeys(row for each in costs for row in each.price_rows))
    sums = reduce(add, (each.costs for each in costs), CostSums())
    known = reduce(_EXACT.add, (each.cost for each in costs if each.cost is not None), _NO_DOLLARS)
    estimates = [each.estimated_cost for each in costs if each.estimated_cost is not None]
    estimated = reduce(_EXACT.add, estimates, _NO_DOLLARS) if estimates else None
    unknown = next((each for each in costs if each.cost is None), None)
    if unknown is None:
        sources = {each.cost_source for each in costs}
        weakest: CostSource | None = next((each for each in WEAKEST_FIRST if each in sources), None)
        return Cost(known, weakest, None, rows, estimated).with_sums(sums)
    if estimated is None or any(each.cost is None and each.estimated_cost is None for each in costs):
        return Cost(None, None, unknown.cost_reason, rows).with_sums(sums)
    return Cost(None, None, unknown.cost_reason, rows, _EXACT.add(known, estimated)).with_sums(sums)


FindCost: TypeAlias = Callable[[], Cost]
_FIELDS: Final = Cost._fields


class HasCostSums:
    """Base class of dataclasses with the `cost`, the `estimated_cost` and the `cost_sums` of one call or several."""

    __slots__ = ()

    @property
    def costs(self: _HasSums) -> CostSums:
        """What is known, what is estimated, the number of calls of which neither is known, and what caches saved.
        Unlike `cost`, which is None if that of one call is unknown, it has what is known of the others.
        """
        return CostSums.of_call(self) if self.cost_sums is None else self.cost_sums


class HasDeferredCost(HasCostSums):
    """Base class of frozen dataclasses with the fields of `Cost`, which may be computed when one is first read."""

    __slots__ = ("_find_cost",)
    _find_cost: FindCost

    if not TYPE_CHECKING:  # for a type checker, a class with this method has every attribute

        def __getattr__(self, name: str) -> Any:
            """Computes the cost; called for fields without a value."""
            if name in _FIELDS:
                found = self._find_cost()
                estimated = checked_cost(found.estimated_cost, "estimated_cost")
                found = found._replace(cost=checked_cost(found.cost), estimated_cost=estimated)
                for field, value in zip(_FIELDS, found, strict=True):
                    object.__setattr__(self, field, value)
            return object.__getattribute__(self, name)


def defer_cost(response: HasDeferredCost, find_cost: FindCost) -> None:
    """Removes the cost of a new response; `find_cost` returns it when it is first read."""
    object.__setattr__(response, "_find_cost", find_cost)
    for field in _FIELDS:
        object.__delattr__(response, field)


def checked_cost(cost: object, path: str = "cost") -> Decimal | None:
    """Returns `cost` without trailing zeros; raises `SchemaError` unless it is None or a `Decimal` of at least 0."""
    return None if cost is None else check_decimal(cost, path)


def checked_sums(sums: object) -> CostSums | None:
    """Returns sums of costs; raises `SchemaError` for anything else but None."""
    if sums is not None and not isinstance(sums, CostSums):
        check_class(sums, CostSums, "cost_sums")
    return cast("CostSums | None", sums)
