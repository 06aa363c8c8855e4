"""`Bill`: the tokens and the cost of a call with all its attempts; `cost_range`: what a call may cost beforehand.

Each response is charged by itself and the money is added: a price depends on the size and the time of one request
(`catalogue/pricing.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from functools import reduce
from typing import TYPE_CHECKING, Final

from ..ports import BilledResponse, CacheHit, CallContext, Charge, MeteredStream, ModelProfile, Pricing, Terms
from ..schema import CostSums, ModelCall, Usage
from ..schema.costs import WEAKEST_FIRST, Cost, total_cost

if TYPE_CHECKING:
    from ..schema import AttemptRecord, CostRange, MediaDecision

_NO_USAGE: Final = Usage()
_NOTHING: Final = Charge(Decimal(0), "computed")
_UNREPORTED: Final = Charge(reason="no response reported its tokens")
_EXACT: Final = Context(prec=100, traps=[])
"""Sums do not depend on the program's decimal context."""


class Bill:
    """What an ended call is charged for: its responses and file conversions, and nothing of its content.

    That `of_record` leaves out calls that were made for it and have records of their own, such as captions of its
    files: the sum over all records is what was spent.
    """

    __slots__ = ("_conversions", "_hit", "_lost", "_nested", "_responses", "_without_response", "usage")

    def __init__(self, context: CallContext, *, of_record: bool = False) -> None:
        responses = [*context.responses, *(each.billed for each in context.streams if isinstance(each, MeteredStream))]
        conversions = [each for each in context.decisions if each.usage is not None and not each.recorded]
        nested = () if of_record else tuple(context.nested)
        usages = [each.usage for each in (*responses, *conversions) if each.usage is not None]
        usages += [each.usage for each in nested if each.usage != _NO_USAGE]
        self.usage: Usage = sum(usages[1:], usages[0]) if usages else _NO_USAGE
        """The tokens of all responses and conversions; a single one keeps what it reports about its price."""
        is_free = context.operation.is_free
        self._responses: Sequence[BilledResponse] = () if is_free else responses
        self._lost: Sequence[BilledResponse] = () if is_free else tuple(context.lost)
        may_be_charged = len(context.attempts) > context.unsent and not is_free
        self._without_response = _UNREPORTED if may_be_charged else _NOTHING
        self._conversions = conversions
        self._hit = context.cache_hit
        self._nested = [each.find_cost for each in nested]

    def cost(self, pricing: Pricing) -> Cost:
        """Returns the cost of the model, of file conversions, and of calls that were made for this one."""
        cost = total_cost([self._own_cost(pricing), *(find_cost() for find_cost in self._nested)])
        saved = saved_cost(self._hit, pricing)
        return cost if saved is None else cost.with_sums(cost.costs + CostSums(saved=saved))

    def _own_cost(self, pricing: Pricing) -> Cost:
        """Returns the cost without that of calls with records of their own.

        It is 0 where a middleware answered without a request, whatever `usage` its reply reports. The source is the
        weakest of those of the responses; without the cost of one of them, that of the call is unknown. What requests
        have cost whose responses were lost, or are incomplete, is estimated.
        """
        responses = [(each, _charges(each, pricing)) for each in self._responses]
        charges = [charge for _, each in responses for charge in each] or [self._without_response]
        conversions = [*map(_of_conversion, self._conversions)]
        cost = _sum([*charges, *conversions])
        estimates = [_estimate(each, by_response, pricing) for each, by_response in responses if each.estimate]
        estimates += [_estimate(each, (), pricing) for each in self._lost]
        if not estimates:
            return cost
        known = [each for each in estimates if each is not None]
        if cost.cost is not None:
            extra = reduce(_EXACT.add, known, Decimal(0))
            return cost._replace(estimated_cost=extra) if extra or self._lost else cost
        missing = [each for each, found in responses if _dollars(found) is None and not each.estimate]
        if missing or len(known) < len(estimates) or any(each.dollars is None for each in conversions):
            return cost
        whole = [each.dollars for each in (*charges, *conversions) if each.dollars is not None]
        return cost._replace(estimated_cost=reduce(_EXACT.add, [*whole, *known], Decimal(0)))

    def by_attempt(self, attempts: Sequence[AttemptRecord], pricing: Pricing) -> tuple[AttemptRecord, ...]:
        """Returns the attempts of a call, each with its own cost if there are several."""
        if len(attempts) < 2:
            return tuple(attempts)
        found: dict[int, tuple[Decimal | None, Decimal | None]] = {}
        for each in self._responses:
            charges = _charges(each, pricing)
            found[each.attempt] = _dollars(charges), _estimate(each, charges, pricing) if each.estimate else None
        for each in self._lost:
            found[each.attempt] = None, _estimate(each, (), pricing)
        return tuple(_with_cost(each, *found.get(each.number, (None, None))) for each in attempts)


def _with_cost(attempt: AttemptRecord, cost: Decimal | None, estimated: Decimal | None) -> AttemptRecord:
    known = cost is not None or estimated is not None
    return replace(attempt, cost=cost, estimated_cost=estimated) if known else attempt


def _charges(response: BilledResponse, pricing: Pricing) -> list[Charge]:
    pricing = response.pricing or pricing
    return [pricing.charge(each) for each in _charged_apart(response)]


def _dollars(charges: Sequence[Charge]) -> Decimal | None:
    """Returns the sum of charges; None if one of them is unknown."""
    known = [each.dollars for each in charges if each.dollars is not None]
    return reduce(_EXACT.add, known) if known and len(known) == len(charges) else None


def _estimate(response: BilledResponse, charges: Sequence[Charge], pricing: Pricing) -> Decimal | None:
    """Returns about what a response has cost beside its charges; None if no price is known."""
    assert response.estimate is not None
    estimated, reported = response.estimate(), response.usage
    output = reported.output
    if output is None or not response.complete:
        output = max(output or 0, estimated.output or 0)
    usage = replace(reported, output=output)
    if reported.input is None:
        usage = replace(usage, input=estimated.input, input_audio=estimated.input_audio)
    pricing = response.pricing or pricing
    dollars = pricing.charge(response._replace(usage=usage, complete=False)).dollars
    if dollars is None:
        return None
    return max(Decimal(0), _EXACT.subtract(dollars, _dollars(charges) or Decimal(0)))


def saved_cost(hit: CacheHit | None, pricing: Pricing) -> Decimal | None:
    """Returns what the answer of a cache cost when it was asked for; None if that is unknown, or without a cache."""
    if hit is None:
        return None
    return charge_of(BilledResponse(hit.usage, hit.model, hit.stored_at), pricing).cost


def charge_of(response: BilledResponse, pricing: Pricing) -> Cost:
    """Returns the cost of one response, and about what it has cost beside that if it has not reported all."""
    charges = _charges(response, pricing)
    cost = _sum(charges)
    if response.estimate is None:
        return cost
    return cost._replace(estimated_cost=_estimate(response, charges, pricing))


def _charged_apart(response: BilledResponse) -> Iterator[BilledResponse]:
    """Yields a response, and then what it reports of tokens that are not among its counts: each has the prices of its
    own model, and of its own size. A reported cost is that of all.
    """
    yield response
    billing = response.usage.billing
    if billing is None or billing.cost is not None:
        return
    for each in billing.separate:
        own = replace(billing, counts=each.counts, separate=())
        usage = Usage(each.input, each.output, each.cached, each.cache_written, billing=own)
        yield response._replace(usage=usage, model=each.model or response.model)


def conversion_costs(decisions: Sequence[MediaDecision]) -> Decimal:
    """Returns what handlers report of the models that they called for conversions, but for calls with records of their
    own.
    """
    charges = [_of_conversion(each).dollars for each in decisions if each.usage is not None and not each.recorded]
    return reduce(_EXACT.add, (each for each in charges if each is not None), Decimal(0))


def _of_conversion(decision: MediaDecision) -> Charge:
    """Returns the cost of the model that a media handler called, which only the handler knows."""
    billing = decision.usage.billing if decision.usage is not None else None
    if billing is not None and billing.cost is not None:
        return Charge(billing.cost, "vendor")
    return Charge(reason=f"no price is known for the conversion of {decision.source} by {decision.handler!r}")


def _sum(charges: list[Charge]) -> Cost:
    rows = tuple(dict.fromkeys(each.price_row for each in charges if each.price_row is not None))
    unknown = next((each for each in charges if each.dollars is None), None)
    if unknown is not None:
        return Cost(None, None, unknown.reason, rows)
    dollars = reduce(_EXACT.add, (each.dollars for each in charges if each.dollars is not None))
    sources = {each.source for each in charges}
    return Cost(dollars, next(each for each in WEAKEST_FIRST if each in sources), None, rows)


MARGIN: Final = 1.5
"""By how much the tokens of an input may differ from their estimate: docs/decisions/0104-token-estimates.md."""


def cost_range(
    pricing: Pricing, call: ModelCall, profile: ModelProfile, tokens: int, audio: int, terms: Terms, time: float
) -> CostRange | None:
    """Returns the range of the cost of one request of a lowered call; None if no price is known.

    `tokens` is an estimate of its input, `audio` of the tokens in it that are of recordings. The least is an answer
    without output to an input that is read from the cache, the most the longest output to one that is written to it.
    """
    from ..schema import CostRange

    def dollars(usage: Usage) -> Decimal | None:
        return pricing.charge(BilledResponse(usage, call.model, time, terms, complete=False)).dollars

    least, most = math.floor(tokens / MARGIN), math.ceil(tokens * MARGIN)
    low = dollars(Usage(input=least, output=0, cached=least))
    if low is None:
        return None
    output = _most_output(call, profile, least)
    if output is None:
        return CostRange(low)
    spoken = math.ceil(audio * MARGIN) or None
    plain = Usage(input=most, output=output, input_audio=spoken)
    written = Usage(input=most, output=output, cache_written=most)
    costs = [cost for cost in (dollars(plain), dollars(written)) if cost is not None]
    return CostRange(low, max(costs, default=None))


def _most_output(call: ModelCall, profile: ModelProfile, tokens: int) -> int | None:
    """Returns the longest output in tokens: that of the call, of the model, or what its context leaves."""
    limits = [each for each in (call.sampling.max_output_tokens, profile.max_output_tokens) if each is not None]
    if profile.context_tokens is not None:
        limits.append(max(0, profile.context_tokens - tokens))
    return min(limits, default=None)
