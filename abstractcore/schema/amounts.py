"""Costs, times and numbers as texts for tables: known, estimated and unknown costs are distinguished."""

from __future__ import annotations

from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, Protocol

_PICODOLLAR: Final = Decimal("0.000000000001")
_DECIMALS_OF_CENTS: Final = 6
_ENOUGH: Final = Context(prec=60)
UNKNOWN: Final = "unknown"


def dollars(amount: Decimal) -> str:
    """Returns an amount to the last digit, so that sums agree with what they are of: with at least two decimals, or six
    below a dollar.
    """
    if not amount:
        return "$0"
    if amount < _PICODOLLAR:
        return f"<${_PICODOLLAR:f}"
    exact = amount.quantize(_PICODOLLAR, ROUND_HALF_UP, _ENOUGH).normalize(_ENOUGH)
    decimals = max(2 if amount >= 1 else _DECIMALS_OF_CENTS, -int(exact.as_tuple().exponent))
    return f"${exact:,.{decimals}f}"


def cost_of(known: Decimal | None, estimated: Decimal | None, saved: Decimal | None = None) -> str:
    """Returns the cost of one call: what is known, "about" what is estimated, or that it is unknown; and what the
    answer of a cache saved.
    """
    if known is None and estimated is None:
        return UNKNOWN
    parts = [] if known is None else [dollars(known)]
    if estimated is not None:
        parts.append(f"about {dollars(estimated)}")
    if saved:
        parts[-1] += f" ({dollars(saved)} saved by a cache)"
    return " + ".join(parts)


class _DollarSums(Protocol):
    """Those of a `CostSums`."""

    @property
    def known(self) -> Decimal: ...

    @property
    def estimated(self) -> Decimal: ...

    @property
    def unknown(self) -> int: ...

    @property
    def saved(self) -> Decimal: ...


def sums(costs: _DollarSums) -> str:
    """Returns sums as a phrase: what is unknown is not $0."""
    parts = [f"{dollars(costs.known)} known"] if costs.known or not (costs.estimated or costs.unknown) else []
    if costs.estimated:
        parts.append(f"about {dollars(costs.estimated)} estimated")
    if costs.unknown:
        parts.append(f"{counted(costs.unknown, 'call')} of unknown cost")
    if costs.saved:
        parts.append(f"{dollars(costs.saved)} saved by caches")
    return ", ".join(parts)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number with its noun, in the plural unless it is 1: with an s, if no `plural` is given."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def tokens(number: int | None) -> str:
    """Returns a number of tokens; "?" if it was not reported."""
    return "?" if number is None else f"{number:,}"


def seconds(duration: float) -> str:
    """Returns a duration."""
    if duration < 0.9995:
        return f"{duration * 1000:.0f} ms"
    return f"{duration:.2f} s" if duration < 100 else f"{duration:,.0f} s"


def moment(time: float, *, without_year: bool = False) -> str:
    """Returns a time of this time zone; that of a clock that is wrong as a number."""
    try:
        text = datetime.fromtimestamp(time).isoformat(sep=" ", timespec="seconds")
        return text.partition("-")[2] if without_year else text
    except (ValueError, OverflowError, OSError):
        return f"{time:.0f}"
