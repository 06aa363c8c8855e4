"""Estimates what an attempt costs before it is sent.

What a model has reported corrects its later estimates: the ratio of its input tokens to the estimated ones, its usual
output, and what an operation without tokens usually costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from typing import Any, Final, cast

from ..files.token_estimates import estimated_tokens
from ..ports import Attempt, BilledResponse, CallContext, ModelProfile, Pricing
from ..ports.middleware import call_in
from ..schema import Billing, ModelCall, Usage, content_size, size_of
from ..schema.token_counts import text_tokens
from ..telemetry.costs import MARGIN, charge_of
from .amounts import Amount, picodollars

_FIRST_OUTPUT: Final = 256
"""The output of a model that has not answered yet in this process, in tokens."""
_LEAST_OUTPUT: Final = 1
_WEIGHT: Final = 0.125
_NO_DOLLARS: Final = Decimal(0)
_MOST_KNOWN: Final = 4096
"""Models and operations whose usual sizes are kept, and costs of sizes."""


@dataclass(slots=True)
class Usual:
    """What the answers of a model to one operation were like. A larger value counts at once, smaller ones slowly: an
    estimate is rather too high.
    """

    input_ratio: float | None = None
    output: float | None = None


def _towards(known: float | None, observed: float) -> float:
    return observed if known is None else max(observed, known + _WEIGHT * (observed - known))


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model that serves attempts: its prices and limits, what costs of sizes at these prices have been computed, and
    what is usual, of all models of its services. Usual costs are those at these prices: the same model may have others
    elsewhere, or none. Changes by two threads at once may lose one.
    """

    pricing: Pricing
    profile: ModelProfile
    costs: dict[Any, Amount]
    usual: dict[tuple[str, str, str], Usual]
    usual_costs: dict[tuple[str, str, str], float] = field(default_factory=dict[tuple[str, str, str], float])


class AttemptEstimate:
    """The estimates of one attempt."""

    def __init__(self, attempt: Attempt, model: PricedModel) -> None:
        context = attempt.context
        self._context = context
        self._pricing = context.pricing or model.pricing
        self._profile = profile = model.profile
        self._costs = model.costs
        self._given = context.input if attempt.encoded is None else attempt.encoded
        call = call_in(self._given)
        self._call = call
        self._limit = _output_limit(call, profile, context)
        key = (context.input.provider, context.input.model, context.operation.name)
        usual = model.usual.get(key)
        if usual is None:
            if len(model.usual) >= _MOST_KNOWN:
                model.usual.clear()
            usual = model.usual.setdefault(key, Usual())
        self._usual = usual
        self._usual_costs = model.usual_costs
        self._key = key
        self._input = _input_tokens(self._given, call, profile, context)

    @property
    def now(self) -> float:
        """The time by the clock of the call, in seconds since the epoch."""
        context = self._context
        return context.started_at + context.runtime.now() - context.monotonic_start

    def beforehand(self) -> Amount:
        """Returns what the attempt is expected to cost."""
        usual = self._usual
        ratio = MARGIN if usual.input_ratio is None else usual.input_ratio
        amount = self._amount(math.ceil(self._input * ratio - 1e-6), self._limit or self._usual_output())
        cost = self._usual_costs.get(self._key)
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
                self._learn(response)
            elif expected.picodollars is None:
                return Amount(None, cost.cost_reason or "")
            else:
                estimated += expected.picodollars
        if not responses:
            return expected._replace(estimated=expected.picodollars or 0)
        total = known + estimated
        if len(self._usual_costs) >= _MOST_KNOWN:
            self._usual_costs.clear()
        self._usual_costs[self._key] = _towards(self._usual_costs.get(self._key), total)
        return Amount(total, estimated=estimated)

    def _learn(self, response: BilledResponse) -> None:
        usual, usage = self._usual, response.usage
        if usage.input and self._input:
            # A short input may have half of its estimate, from which nothing follows for a long one.
            usual.input_ratio = _towards(usual.input_ratio, max(1 / MARGIN, usage.input / self._input))
        if usage.output is not None and response.complete:
            usual.output = _towards(usual.output, usage.output)

    def _usual_output(self) -> int:
        if self._context.operation.is_chat:
            known = self._usual.output
            tokens = _FIRST_OUTPUT if known is None else max(_LEAST_OUTPUT, math.ceil(known - 1e-6))
            most = self._profile.max_output_tokens
            return tokens if most is None else min(tokens, most)
        return math.ceil(self._usual.output or 0)

    def _amount(self, tokens: int, output: int) -> Amount:
        """Returns the cost of so many tokens; of the characters or the length of the input where these have a price."""
        context, now = self._context, self.now
        key = (tokens, output, context.terms, context.input.model, int(now // 3600), id(self._pricing))
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
        if len(self._costs) >= _MOST_KNOWN:
            self._costs.clear()
        if self._call is not None:
            self._costs[key] = amount
        return amount

    def _usages(self, tokens: int, output: int) -> Iterator[Usage]:
        yield Usage(tokens, output)
        if self._call is None or not self._context.operation.is_chat:
            characters = sum(map(len, _texts(self._given)))
            if characters:
                yield Usage(billing=Billing(counts={"character": characters}))
            seconds = getattr(self._given, "seconds", None)
            if isinstance(seconds, int | float) and 0 < seconds < math.inf:
                yield Usage(billing=Billing(counts={"audio_second": math.ceil(seconds)}))


def size_of_input(attempt: Attempt) -> int:
    """Returns about how many bytes an estimate reads."""
    given = attempt.context.input if attempt.encoded is None else attempt.encoded
    call = call_in(given)
    return size_of(given) if call is None else content_size(call)


def _output_limit(call: ModelCall | None, profile: ModelProfile, context: CallContext) -> int | None:
    """Returns the most tokens of output that the call allows, None if it sets no limit."""
    if call is None or not context.operation.is_chat or call.sampling.max_output_tokens is None:
        return None
    limit = call.sampling.max_output_tokens
    return limit if profile.max_output_tokens is None else min(limit, profile.max_output_tokens)


def _input_tokens(given: object, call: ModelCall | None, profile: ModelProfile, context: CallContext) -> int:
    if call is not None:
        return int(estimated_tokens(call, profile, context.decisions))
    return sum(map(text_tokens, _texts(given)))


_NOT_SENT: Final = frozenset({"model", "provider", "tags", "parent_id", "trace_context"})


def _texts(given: object) -> Iterator[str]:
    """Yields the texts of the input of an operation, such as those to embed or to speak."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        for each in cast("Mapping[object, object]", given).values():
            yield from _texts(each)
    elif isinstance(given, list | tuple):
        for each in cast("Sequence[object]", given):
            yield from _texts(each)
    elif is_dataclass(given) and not isinstance(given, type):
        for field in fields(given):
            if field.name not in _NOT_SENT:
                yield from _texts(getattr(given, field.name))
