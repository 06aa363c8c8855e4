"""Amounts of money: whole picodollars in accounts, US dollars for users."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Final, NamedTuple

PICODOLLARS: Final = Decimal(10**12)
"""In a dollar."""
_EXACT: Final = Context(prec=60, rounding=ROUND_CEILING, traps=[])


class Amount(NamedTuple):
    """An amount in picodollars, `estimated` of which are; None and the reason if no price is known."""

    picodollars: int | None
    reason: str = ""
    estimated: int = 0


def picodollars(dollars: Decimal) -> int:
    """Returns an amount as a whole number of picodollars, rounded up."""
    return int(_EXACT.to_integral_value(_EXACT.multiply(dollars, PICODOLLARS)))


def as_dollars(amount: int) -> Decimal:
    """Returns picodollars as US dollars."""
    dollars = _EXACT.divide(Decimal(amount), PICODOLLARS).normalize(_EXACT)
    return Decimal(f"{dollars:f}")


def shown_dollars(amount: Decimal) -> str:
    """Returns an amount for messages, as in `$5.00` or `$0.000125`: two digits that count at least."""
    digits = 2 if amount == 0 else max(2, 1 - amount.adjusted())
    return f"${amount:.{digits}f}"
