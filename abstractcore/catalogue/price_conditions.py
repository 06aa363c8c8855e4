"""`Condition`: when a price differs, and by how much: long contexts, service tiers, regions, dates, hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final, cast

from ..registry import name_hint
from ..schema import SchemaError
from ..schema.base_error import shown
from . import price_values as values

TIERS: Final = frozenset(
    {
        *("batch", "flex", "priority", "fast", "ultrafast", "performance", "optimized", "scale"),
        *("background_2h", "background_8h", "on_demand_priority", "on_demand_flex", "on_demand_offpeak"),
    }
)
"""The service tiers that rows may name, in lower case: those with a price of their own."""
STANDARD_TIERS: Final = frozenset({"", "default", "standard", "standard_only", "on_demand", "auto", "unspecified"})
"""The vendors' words for the usual tier. Prices of a row are for it."""
NOWHERE: Final = frozenset({"", "global", "not_available"})
"""Regions that are none: prices of a row are for them."""


@dataclass(frozen=True, slots=True)
class Holidays:
    """Named days on which hours of a condition do not count. Years without any are not known."""

    days: frozenset[date] = frozenset()
    years: frozenset[int] = frozenset()

    @classmethod
    def read(cls, data: object, path: str) -> Holidays:
        """Reads a list of dates."""
        listed = values.as_list(data, path)
        days = frozenset(values.as_date(day, f"{path}[{index}]") for index, day in enumerate(listed))
        return cls(days, frozenset(day.year for day in days))


@dataclass(frozen=True, slots=True)
class PricedRequest:
    """What conditions depend on: the service tier and the region in lower case, the input tokens with the cached ones,
    and the time in seconds since the epoch."""

    tier: str
    region: str
    input_tokens: int
    at: float


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and its effect on the prices that the conditions before it left.

    All of what is set must hold. `over` and `reaching` are numbers of input tokens: more than, and at least as many;
    the price of the whole response depends on it. `factor` applies to all meters but fees, `factor_in` and `factor_out`
    to tokens of the input and the output only; `rates` replace prices.
    """

    over: int | None = None
    reaching: int | None = None
    tiers: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    regions_but: frozenset[str] = frozenset()
    start: float | None = None
    end: float | None = None
    hours: tuple[tuple[int, int], ...] = ()
    weekdays: frozenset[int] = frozenset()
    holidays: Holidays | None = None
    factor: Decimal | None = None
    factor_in: Decimal | None = None
    factor_out: Decimal | None = None
    rates: Mapping[str, Decimal | None] = field(default_factory=dict[str, "Decimal | None"], hash=False)
    sold: bool = True

    @classmethod
    def read(cls, data: object, path: str, holidays: Mapping[str, Holidays]) -> Condition:
        """Reads a condition of a price row; raises `SchemaError` with the path of an invalid value."""
        given = values.as_object(data, path)
        for name in given:
            if name not in _FIELDS:
                hint = name_hint(name, _FIELDS, "fields", _DESCRIBED)
                raise SchemaError(f"{shown(name)} is not a field", path, hint=hint)
        fields: dict[str, Any] = {**_factors(given, path), **_days_off(given, path, holidays)}
        for name, read in _READERS.items():
            if name in given:
                fields[_NAMES.get(name, name)] = read(given[name], f"{path}.{name}")
        condition = cls(**fields)
        if not any(name in given for name in _EFFECTS):
            raise SchemaError("has no effect", path, hint=f"The effects are {', '.join(_EFFECTS)}.")
        if condition.start is not None and condition.end is not None and condition.end <= condition.start:
            raise SchemaError("must be later than 'from'", f"{path}.until")
        return condition

    def holds(self, request: PricedRequest) -> bool:
        """Returns whether the condition holds for a request."""
        if self.over is not None and request.input_tokens <= self.over:
            return False
        if self.reaching is not None and request.input_tokens < self.reaching:
            return False
        if self.tiers and request.tier not in self.tiers:
            return False
        if self.regions and request.region not in self.regions:
            return False
        if self.regions_but and (request.region in NOWHERE or request.region in self.regions_but):
            return False
        if (self.start is not None and request.at < self.start) or (self.end is not None and request.at >= self.end):
            return False
        return not (self.hours or self.weekdays) or self._is_on(request.at)

    def _is_on(self, at: float) -> bool:
        moment = datetime.fromtimestamp(at, UTC)
        if self.weekdays and moment.weekday() not in self.weekdays:
            return False
        if self.holidays is not None and moment.date() in self.holidays.days:
            return False
        minute = moment.hour * 60 + moment.minute
        return not self.hours or any(begin <= minute < end for begin, end in self.hours)

    def is_sure(self, at: float) -> bool:
        """Returns whether the holidays of that year are known."""
        return self.holidays is None or datetime.fromtimestamp(at, UTC).year in self.holidays.years


def _tiers(data: object, path: str) -> frozenset[str]:
    names = values.as_names(data, path)
    for name in sorted(names - TIERS):
        hint = name_hint(name, sorted(TIERS), "tiers", _DESCRIBED)
        raise SchemaError(f"{shown(name)} is not a service tier", path, hint=hint)
    return names


def _sold(data: object, path: str) -> bool:
    if data is not False:
        raise SchemaError("expected false", path)
    return data


def _factors(given: Mapping[str, Any], path: str) -> dict[str, Decimal]:
    times = given.get("times")
    if times is None:
        return {}
    if not isinstance(times, Mapping):
        return {"factor": values.as_number(times, f"{path}.times")}
    factors: dict[str, Decimal] = {}
    for name, factor in values.as_object(cast(object, times), path).items():
        if name not in ("in", "out"):
            raise SchemaError(
                f"{shown(name)} is not 'in' or 'out'", f"{path}.times", hint="Factors never apply to fees."
            )
        factors[f"factor_{name}"] = values.as_number(factor, f"{path}.times.{name}")
    return factors


def _days_off(given: Mapping[str, Any], path: str, holidays: Mapping[str, Holidays]) -> dict[str, Holidays]:
    name = given.get("not")
    if name is None:
        return {}
    if not isinstance(name, str) or name not in holidays:
        raise SchemaError(f"{shown(name)} is not a list of holidays of this provider", f"{path}.not")
    return {"holidays": holidays[name]}


_DESCRIBED: Final = '"A price row" in docs/catalogue.md'
_READERS = {
    "input_over": values.as_count,
    "input_from": values.as_count,
    "tier": _tiers,
    "region": values.as_names,
    "region_not": values.as_names,
    "from": values.as_instant,
    "until": values.as_instant,
    "utc": values.as_hours,
    "days": values.as_weekdays,
    "rates": values.as_rates,
    "sold": _sold,
}
_NAMES = {
    "input_over": "over",
    "input_from": "reaching",
    "tier": "tiers",
    "region": "regions",
    "region_not": "regions_but",
    "from": "start",
    "until": "end",
    "utc": "hours",
    "days": "weekdays",
}
_EFFECTS = ("times", "rates", "sold")
_FIELDS = (*(name for name in _READERS if name not in _EFFECTS), "not", *_EFFECTS)
