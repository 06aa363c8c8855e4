"""Prices of the catalogue as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..catalogue import PriceRow

_UNITS: Mapping[int, str] = {
    1: "each",
    60: "per minute",
    1_000: "per 1,000",
    3_600: "per hour",
    1_000_000: "per million",
}
_SIDES: Mapping[str, str] = {"in": "input", "out": "output"}
_TERMS: Mapping[str, str] = {
    "input_over": "input over {}",
    "input_from": "input from {}",
    "tier": "tier {}",
    "region": "in {}",
    "region_not": "not in {}",
    "from": "from {}",
    "until": "until {}",
    "utc": "{} UTC",
    "days": "{}",
    "not": "not on holidays of {}",
}
"""The conditions of a price, each with its text."""


def current_rate(rows: Iterable[PriceRow], meter: str, now: float) -> Decimal | None:
    """Returns the present price of a meter, before conditions; None if it is unknown."""
    return next((row.rates.get(meter) for row in rows if row.covers(now)), None)


def dollars(rate: Decimal | None) -> str:
    """Returns a price without trailing zeros."""
    return "?" if rate is None else f"{rate.normalize():f}" if rate else "0"


def price_lines(rows: Iterable[PriceRow], now: float) -> Iterator[str]:
    """Yields the present and future prices, and the conditions under which they differ."""
    for row in rows:
        if row.end is None or row.end > now:
            yield _span(row) + "; ".join(_by_unit(row))
            yield from (_condition(each) for each in row.content.get("when", ()))


def _span(row: PriceRow) -> str:
    """Returns the days on which the price begins and ends, and whether it is sure."""
    ends = [f"{word} {_day(at)}" for word, at in (("from", row.start), ("until", row.end)) if at is not None]
    if row.sure_until is not None:
        ends.append(f"an estimate from {_day(row.sure_until)} on")
    if not row.sure:
        ends.append("an estimate")
    return f"{', '.join(ends)}: " if ends else ""


def _day(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%Y-%m-%d}" if not (moment.hour or moment.minute) else f"{moment:%Y-%m-%d %H:%M} UTC"


def _by_unit(row: PriceRow) -> Iterator[str]:
    """Yields the prices of each unit: those per million tokens first."""
    from ..catalogue.price_values import METERS

    units: dict[int, list[str]] = {}
    for meter, rate in row.rates.items():
        units.setdefault(METERS[meter].unit, []).append(_priced(meter, rate))
    for unit, rates in sorted(units.items(), reverse=True):
        yield f"{', '.join(rates)} {_UNITS.get(unit, f'per {unit:,}')}"


def _priced(meter: str, rate: Decimal | None) -> str:
    return f"{meter} unknown" if rate is None else f"{meter} ${dollars(rate)}"


def _condition(condition: Mapping[str, Any]) -> str:
    terms = [text.format(_words(condition[name])) for name, text in _TERMS.items() if name in condition]
    return f"  {', '.join(terms) or 'always'}: {', '.join(_effects(condition))}"


def _effects(condition: Mapping[str, Any]) -> Iterator[str]:
    times = condition.get("times")
    if isinstance(times, Mapping):
        yield from (f"{_SIDES.get(side, side)} x{factor}" for side, factor in cast("Mapping[str, str]", times).items())
    elif times is not None:
        yield f"x{times}"
    for meter, rate in condition.get("rates", {}).items():
        yield f"{meter} unknown" if rate is None else f"{meter} ${rate}"
    if condition.get("sold") is False:
        yield "not available"


def _words(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return " or ".join(cast("list[str]", value)) if isinstance(value, list | tuple) else str(value)
