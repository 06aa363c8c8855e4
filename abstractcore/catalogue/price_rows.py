"""`PriceRow`: one price of one model at one provider for one span of time, read from JSON and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from math import inf
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, cast

from ..registry import name_hint
from ..schema import SchemaError, canonical_json
from ..schema.base_error import shown
from . import price_values as values
from .price_conditions import NOWHERE, STANDARD_TIERS, Condition, Holidays, PricedRequest
from .price_values import ANCESTORS, EXACT, METERS

_FIELDS: Final = ("from", "until", "sure_until", "sure", "rates", "when", "least", "source", "checked", "note")
_DIGEST_LENGTH: Final = 16
_HEADER_FIELDS: Final = ("sets", "tool_fees", "allowances", "holidays")


@dataclass(frozen=True, slots=True)
class PriceHeader:
    """What the price rows of a provider share.

    `sets` are lists of conditions by name, `tool_fees` the prices of tools that the provider runs, for every model that
    has none of its own. A number of what `allowances` name is free each month, which one response cannot show: a cost
    with them is an estimate. `holidays` are lists of days by name.
    """

    sets: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, "Sequence[Any]"])
    tool_fees: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allowances: frozenset[str] = frozenset()
    holidays: Mapping[str, Holidays] = field(default_factory=dict[str, Holidays])

    @classmethod
    def read(cls, header: Mapping[str, Any]) -> PriceHeader:
        """Reads `prices` of the header of a provider's file; raises `SchemaError` with the path of an invalid value."""
        for name in header:
            if name not in _HEADER_FIELDS:
                hint = name_hint(name, _HEADER_FIELDS, "fields", '"A price row" in docs/catalogue.md')
                raise SchemaError("no such field", name, hint=hint)
        listed = values.as_object(header.get("holidays", {}), "holidays")
        holidays = {name: Holidays.read(days, f"holidays.{name}") for name, days in listed.items()}
        sets = values.as_object(header.get("sets", {}), "sets")
        for name, conditions in sets.items():
            for index, each in enumerate(values.as_list(conditions, f"sets.{name}")):
                Condition.read(each, f"sets.{name}[{index}]", holidays)
        fees = values.as_object(header.get("tool_fees", {}), "tool_fees")
        for meter in values.as_rates(fees, "tool_fees"):
            if METERS[meter].kind != "fee":
                raise SchemaError(f"{shown(meter)} is not the fee of a tool", "tool_fees")
        allowances = frozenset(values.as_list(header.get("allowances", ()), "allowances"))
        for meter in allowances:
            values.check_meter(meter, "allowances")
        return cls(sets, fees, allowances, holidays)


@dataclass(frozen=True)
class PriceRow:
    """Prices by meter, in US dollars per the meter's unit, from `start` (inclusive) to `end` (exclusive), in seconds
    since the epoch.

    None is a price that is not known. Costs are estimates if the row is not `sure`, and from `sure_until` on.
    `conditions` change prices in order. `least` are the smallest counts that are billed.
    """

    rates: Mapping[str, Decimal | None]
    conditions: tuple[Condition, ...] = ()
    start: float | None = None
    end: float | None = None
    sure_until: float | None = None
    sure: bool = True
    least: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])
    allowances: frozenset[str] = frozenset()
    content: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """The row as data, with the sets that it names written out."""

    def covers(self, at: float) -> bool:
        """Returns whether the row is valid at a time."""
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)

    def rates_by_unit(self) -> list[tuple[int, dict[str, Decimal | None]]]:
        """Returns the prices with the number of tokens, calls or others that they are for: the largest number first."""
        units: dict[int, dict[str, Decimal | None]] = {}
        for meter, rate in self.rates.items():
            units.setdefault(METERS[meter].unit, {})[meter] = rate
        return sorted(units.items(), key=itemgetter(0), reverse=True)

    @cached_property
    def digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of the canonical JSON of `content`."""
        return hashlib.sha256(canonical_json(self.content).encode()).hexdigest()[:_DIGEST_LENGTH]

    @cached_property
    def tiers(self) -> frozenset[str]:
        """The service tiers that have a price of their own."""
        return frozenset[str]().union(*(each.tiers for each in self.conditions))

    def knows_tier(self, tier: str) -> bool:
        """Returns whether the price of a service tier is known."""
        return tier in STANDARD_TIERS or tier in self.tiers

    @cached_property
    def _regions(self) -> frozenset[str]:
        return frozenset[str]().union(*(each.regions for each in self.conditions))

    def knows_region(self, region: str) -> bool:
        """Returns whether prices at a region are known: if any depend on the region, on this one."""
        if region in NOWHERE or not self._regions or region in self._regions:
            return True
        return any(each.regions_but for each in self.conditions)

    @cached_property
    def _of_standard_tier(self) -> tuple[tuple[int, Condition], ...]:
        return tuple((index, each) for index, each in enumerate(self.conditions) if not each.tiers)

    def applied(self, request: PricedRequest) -> tuple[int, ...]:
        """Returns the indexes of the conditions that hold for a request."""
        candidates = enumerate(self.conditions) if request.tier in self.tiers else self._of_standard_tier
        return tuple([index for index, each in candidates if each.holds(request)])

    def knows_holidays(self, at: float) -> bool:
        """Returns whether the holidays of that year are known, if prices depend on them."""
        return not self._with_holidays or all(each.is_sure(at) for each in self._with_holidays)

    @cached_property
    def _with_holidays(self) -> tuple[Condition, ...]:
        return tuple(each for each in self.conditions if each.holidays is not None)

    def rates_with(self, applied: Sequence[int]) -> dict[str, Decimal | None]:
        """Returns the prices that the conditions with these indexes leave."""
        rates = dict(self.rates)
        for index in applied:
            condition = self.conditions[index]
            for meter, rate in rates.items():
                rates[meter] = _times(rate, meter, condition)
            rates.update(condition.rates)
        return rates


def read_price_rows(
    rows: Sequence[Any], header: PriceHeader, provider: str = "", model: str = "", path: str = "prices"
) -> tuple[PriceRow, ...]:
    """Returns the price rows of one model, in the order of their dates.

    Raises `SchemaError` with the path of an invalid value, and if two rows are valid at the same time.
    """
    read = [(read_price_row(row, header, provider, model, f"{path}[{i}]"), i) for i, row in enumerate(rows)]
    read.sort(key=lambda each: -inf if each[0].start is None else each[0].start)
    for (before, one), (after, other) in pairwise(read):
        if before.end is None or after.start is None or before.end > after.start:
            first, second = sorted((one, other))
            raise SchemaError(f"is valid at the same time as {path}[{first}]", f"{path}[{second}]")
    return tuple(row for row, _ in read)


def read_price_row(data: object, header: PriceHeader, provider: str, model: str, path: str) -> PriceRow:
    """Returns the row of a JSON object; raises `SchemaError` with the path of an invalid value."""
    given = values.as_object(data, path)
    for name in given:
        if name not in _FIELDS:
            hint = name_hint(name, _FIELDS, "fields", '"A price row" in docs/catalogue.md')
            raise SchemaError(f"{shown(name)} is not a field", path, hint=hint)
    when, conditions = _conditions(given.get("when", ()), header, f"{path}.when")
    fees = header.tool_fees
    rates = {**values.as_rates(fees, "tool_fees"), **_rates(given.get("rates"), f"{path}.rates")}
    start, end, sure_until = (
        values.as_instant(given[name], f"{path}.{name}") if name in given else None
        for name in ("from", "until", "sure_until")
    )
    if start is not None and end is not None and end <= start:
        raise SchemaError("must be later than 'from'", f"{path}.until")
    content = {name: str(value) for name, value in given.items() if name in ("from", "until", "sure_until")}
    content |= {name: given[name] for name in ("sure", "least") if name in given}
    content |= {"rates": {**fees, **given["rates"]}, "when": when}
    return PriceRow(
        rates=MappingProxyType(rates),
        conditions=tuple(conditions),
        start=start,
        end=end,
        sure_until=sure_until,
        sure=_flag(given.get("sure", True), f"{path}.sure"),
        least=_least(given.get("least", {}), f"{path}.least"),
        allowances=header.allowances,
        content={"provider": provider, "model": model, **content},
    )


def _conditions(when: object, header: PriceHeader, path: str) -> tuple[list[Any], list[Condition]]:
    """Returns the conditions as data, with the named sets written out, and as objects."""
    written: list[Any] = []
    conditions: list[Condition] = []
    listed = [when] if isinstance(when, str) else values.as_list(when, path)
    for index, each in enumerate(listed):
        where = f"{path}[{index}]"
        if isinstance(each, str) and each not in header.sets:
            raise SchemaError(f"there is no price set {shown(each)}", where)
        found = header.sets[each] if isinstance(each, str) else (each,)
        written += found
        conditions += (Condition.read(condition, where, header.holidays) for condition in found)
    return written, conditions


def _rates(data: object, path: str) -> dict[str, Decimal | None]:
    if data is None:
        raise SchemaError("missing", path, hint="""For example: "rates": {"input": "2", "output": "10"}""")
    rates = values.as_rates(data, path)
    for meter in rates:
        roots = [root for root in ANCESTORS[meter] if not METERS[root].parents]
        if not all(root in rates for root in roots):
            raise SchemaError(f"has no price for {', '.join(roots)}", f"{path}.{meter}")
    return rates


def _least(data: object, path: str) -> Mapping[str, Decimal]:
    least = values.as_rates(data, path)
    for meter, count in least.items():
        if count is None:
            raise SchemaError("expected a number", f"{path}.{meter}")
    return cast("Mapping[str, Decimal]", MappingProxyType(least))


def _flag(data: object, path: str) -> bool:
    if not isinstance(data, bool):
        raise SchemaError(f"expected true or false, got {shown(data)}", path)
    return data


def _times(rate: Decimal | None, meter: str, condition: Condition) -> Decimal | None:
    kind = METERS[meter].kind
    if rate is None or kind == "fee":
        return rate
    for factor in (condition.factor, {"in": condition.factor_in, "out": condition.factor_out}.get(kind)):
        if factor is not None:
            rate = EXACT.multiply(rate, factor)
    return rate
