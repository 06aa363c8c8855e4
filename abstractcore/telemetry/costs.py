"""`CallCost`: the tokens and the cost of a call with all its attempts.

Each response is charged by itself and the money is added: a price depends on the size and the time of one request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import reduce
from typing import Final

from ..ports import BilledResponse, CallContext, Charge, MeteredStream, Pricing
from ..schema import CostSource, MediaDecision, Usage

_WEAKEST_FIRST: Final[tuple[CostSource, ...]] = ("estimate", "computed", "vendor")
_NOTHING: Final = Charge(Decimal(0), "computed")
_EXACT: Final = Context(prec=100, traps=[])
"""Sums do not depend on the program's decimal context."""


@dataclass(frozen=True, slots=True)
class CallCost:
    """The tokens of a call and their cost: US dollars and where they are from, or None and the reason.

    The source is the weakest of those of the responses; without the cost of one of them, that of the call is unknown.
    """

    usage: Usage
    dollars: Decimal | None
    source: CostSource | None = None
    reason: str | None = None
    price_rows: tuple[str, ...] = ()


def cost_of(context: CallContext, pricing: Pricing) -> CallCost:
    """Returns the tokens and the cost of the model and of file conversions.

    The cost is 0 where a middleware answered without a request, whatever `usage` its reply reports.
    """
    responses = [*context.responses, *(each.billed for each in context.streams if isinstance(each, MeteredStream))]
    conversions = [each for each in context.decisions if each.usage is not None]
    usage = _total([each.usage for each in responses], conversions)
    charges = [*_charges(context, pricing, responses), *map(_of_conversion, conversions)]
    if len(charges) == 1:
        (charge,) = charges
        rows = () if charge.price_row is None else (charge.price_row,)
        return CallCost(usage, charge.dollars, charge.source, charge.reason, rows)
    return _sum(usage, charges)


def _charges(context: CallContext, pricing: Pricing, responses: list[BilledResponse]) -> Iterator[Charge]:
    if context.operation.is_free:
        yield _NOTHING
    elif responses:
        yield from (pricing.charge(each) for response in responses for each in response.charged_apart())
    elif context.attempts:
        yield Charge(reason="no response reported its tokens")
    else:
        yield _NOTHING


def _of_conversion(decision: MediaDecision) -> Charge:
    """Returns the cost of the model that a media handler called, which only the handler knows."""
    billing = decision.usage.billing if decision.usage is not None else None
    if billing is not None and billing.cost is not None:
        return Charge(billing.cost, "vendor")
    return Charge(reason=f"no price is known for the conversion of {decision.source} by {decision.handler!r}")


def _total(usages: list[Usage], conversions: list[MediaDecision]) -> Usage:
    """Returns the tokens of all responses; a single one keeps what it reports about its price."""
    usages += [each.usage for each in conversions if each.usage is not None]
    return sum(usages[1:], usages[0]) if usages else Usage()


def _sum(usage: Usage, charges: list[Charge]) -> CallCost:
    rows = tuple(dict.fromkeys(each.price_row for each in charges if each.price_row is not None))
    unknown = next((each for each in charges if each.dollars is None), None)
    if unknown is not None:
        return CallCost(usage, None, None, unknown.reason, rows)
    dollars = reduce(_EXACT.add, (each.dollars for each in charges if each.dollars is not None))
    sources = {each.source for each in charges}
    return CallCost(usage, dollars, next(each for each in _WEAKEST_FIRST if each in sources), None, rows)
