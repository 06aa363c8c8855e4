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

from ..ports import BilledResponse, CallContext, Charge, MeteredStream, ModelProfile, Pricing, Terms
from ..schema import CostSource, ModelCall, Usage
from ..schema.replies import Cost

if TYPE_CHECKING:
    from ..schema import CostRange, MediaDecision

_WEAKEST_FIRST: Final[tuple[CostSource, ...]] = ("estimate", "computed", "vendor")
_NO_USAGE: Final = Usage()
_NOTHING: Final = Charge(Decimal(0), "computed")
_UNREPORTED: Final = Charge(reason="no response reported its tokens")
_EXACT: Final = Context(prec=100, traps=[])
"""Sums do not depend on the program's decimal context."""


class Bill:
    """What an ended call is charged for: its responses and file conversions, and nothing of its content.

    That `of_record` leaves out conversions whose calls have records of their own: the sum over all records is what was
    spent.
    """

    __slots__ = ("_conversions", "_responses", "_without_response", "usage")

    def __init__(self, context: CallContext, *, of_record: bool = False) -> None:
        responses = [*context.responses, *(each.billed for each in context.streams if isinstance(each, MeteredStream))]
        conversions = [
            each for each in context.decisions if each.usage is not None and not (of_record and each.recorded)
        ]
        usages = [each.usage for each in (*responses, *conversions) if each.usage is not None]
        self.usage: Usage = sum(usages[1:], usages[0]) if usages else _NO_USAGE
        """The tokens of all responses and conversions; a single one keeps what it reports about its price."""
        is_free = context.operation.is_free
        self._responses: Sequence[BilledResponse] = () if is_free else responses
        self._without_response = _UNREPORTED if context.attempts and not is_free else _NOTHING
        self._conversions = conversions

    @property
    def is_empty(self) -> bool:
        """Whether there was neither a response, if only the beginning of one, nor a conversion that is charged."""
        return not (self._responses or self._conversions)

    def cost(self, pricing: Pricing) -> Cost:
        """Returns the cost of the model and of file conversions.

        It is 0 where a middleware answered without a request, whatever `usage` its reply reports. The source is the
        weakest of those of the responses; without the cost of one of them, that of the call is unknown.
        """
        parts = [each for response in self._responses for each in _charged_apart(response)]
        charges = [pricing.charge(each) for each in parts] or [self._without_response]
        return _sum([*charges, *map(_of_conversion, self._conversions)])


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
    return Cost(dollars, next(each for each in _WEAKEST_FIRST if each in sources), None, rows)


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
