"""Estimates what an attempt costs before it is sent: its tokens at the prices of its model.

What operations without tokens have cost corrects later estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from ..ports import Attempt, BilledResponse, ModelProfile, Pricing
from ..schema import Billing, Usage
from ..telemetry.attempt_tokens import MOST_KNOWN, AttemptTokens, UsualSizes, texts_of, towards
from ..telemetry.costs import charge_of
from .amounts import Amount, picodollars

_NO_DOLLARS: Final = Decimal(0)
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model that serves attempts: its prices and limits, what costs of sizes at these prices have been computed, and
    what is usual, of all models of its services. Usual costs are those at these prices: the same model may have others
    elsewhere, or none. Changes by two threads at once may lose one.
    """

    pricing: Pricing
    profile: ModelProfile
    costs: dict[Any, Amount]
    usual: UsualSizes
    usual_costs: dict[tuple[str, str, str], float] = field(default_factory=dict[tuple[str, str, str], float])


class AttemptEstimate(AttemptTokens):
    """The estimates of one attempt."""

    def __init__(self, attempt: Attempt, model: PricedModel) -> None:
        super().__init__(attempt, model.profile, model.usual)
        self._pricing = attempt.context.pricing or model.pricing
        self._costs = model.costs
        self._usual_costs = model.usual_costs

    def beforehand(self) -> Amount:
        """Returns what the attempt is expected to cost."""
        amount = self._amount(self.expected_input(), self.expected_output())
        cost = self._usual_costs.get(self.key)
        return Amount(math.ceil(cost)) if amount.picodollars is None and cost is not None else amount

    def of_responses(self, responses: Sequence[BilledResponse], expected: Amount) -> Amount:
        """Returns what responses have cost, or about so where they have not reported it; without a price of one, what
        was `expected`. Later estimates are made of it.
        """
        known = estimated = 0
        for response in responses:
            cost = charge_of(response, self._pricing)
            if cost.cost is not None or cost.estimated_cost is not None:
                known += picodollars(cost.cost or _NO_DOLLARS)
                estimated += picodollars(cost.estimated_cost or _NO_DOLLARS)
                self.learn(response)
            elif expected.picodollars is None:
                return Amount(None, cost.cost_reason or "")
            else:
                estimated += expected.picodollars
        if not responses:
            return expected._replace(estimated=expected.picodollars or 0)
        total = known + estimated
        if len(self._usual_costs) >= MOST_KNOWN:
            self._usual_costs.clear()
        self._usual_costs[self.key] = towards(self._usual_costs.get(self.key), total)
        return Amount(total, estimated=estimated)

    def _amount(self, tokens: int, output: int) -> Amount:
        """Returns the cost of so many tokens; of the characters or the length of the input where these have a price."""
        context, now = self.context, self.now
        key = (tokens, output, context.terms, context.input.model, int(now // _HOUR), id(self._pricing))
        known = self._costs.get(key)
        if known is not None:
            return known
        amount = Amount(None, "")
        for usage in self._usages(tokens, output):
            response = BilledResponse(usage, context.input.model, now, context.terms, complete=False)
            cost = charge_of(response, self._pricing)
            dollars, reason = cost.cost, cost.cost_reason
            if dollars is not None:
                amount = Amount(picodollars(dollars))
                break
            amount = Amount(None, amount.reason or reason or "")
        if len(self._costs) >= MOST_KNOWN:
            self._costs.clear()
        if self.call is not None:
            self._costs[key] = amount
        return amount

    def _usages(self, tokens: int, output: int) -> Iterator[Usage]:
        yield Usage(tokens, output)
        if self.call is None or not self.context.operation.is_chat:
            characters = sum(map(len, texts_of(self.given)))
            if characters:
                yield Usage(billing=Billing(counts={"character": characters}))
            seconds = getattr(self.given, "seconds", None)
            if isinstance(seconds, int | float) and 0 < seconds < math.inf:
                yield Usage(billing=Billing(counts={"audio_second": math.ceil(seconds)}))
