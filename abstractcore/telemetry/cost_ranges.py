"""`cost_range`: what a call may cost, before it is made."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from ..ports import BilledResponse, ModelProfile, Pricing, Terms
from ..schema import CostRange, ModelCall, Usage

MARGIN: Final = 1.5
"""By how much the tokens of an input may differ from their estimate: docs/decisions/0104-token-estimates.md."""


def cost_range(
    pricing: Pricing, call: ModelCall, profile: ModelProfile, tokens: int, audio: int, terms: Terms, time: float
) -> CostRange | None:
    """Returns the range of the cost of one request of a lowered call; None if no price is known.

    `tokens` is an estimate of its input, `audio` of the tokens in it that are of recordings. The least is an answer
    without output to an input that is read from the cache, the most the longest output to one that is written to it.
    """

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
