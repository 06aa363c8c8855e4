"""`ModelPricing`: what the responses of a model cost, by its price rows.

Which counts of a response are charged at which price: a count is never charged twice.

Each response is charged by itself: long contexts, tiers and dates are those of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TypeAlias

from ..errors import ConfigurationError
from ..ports import BilledResponse, Charge
from ..schema import Billing, Usage
from .price_conditions import STANDARD_TIERS, PricedRequest
from .price_rows import PriceRow
from .price_values import ANCESTORS, DEPTHS, EXACT, METERS, SCALES

_INSTEAD: Final = ("billed_input", "billed_output")
"""Counts that are billed instead of those of `Usage`."""


def tokens_of(usage: Usage, billing: Billing) -> tuple[int | None, int | None]:
    """Returns the tokens of input and output that are billed; None for those that were not reported."""
    if not billing.counts:
        return usage.input, usage.output
    return billing.counts.get("billed_input", usage.input), billing.counts.get("billed_output", usage.output)


def charged_counts(
    usage: Usage, billing: Billing, rates: Mapping[str, Decimal | None]
) -> tuple[dict[str, int], str | None]:
    """Returns the counts to multiply with `rates`, which are exclusive of each other, and the reason if there are none.

    Tokens of a kind that has no price of its own are counted with the kind that includes them. Fees without any price
    are among the counts, and so are tokens: a meter that is not in `rates` has no price.
    """
    counts = _reported_counts(usage, billing)
    if not billing.counts:
        tokens, others = counts, dict[str, int]()
    else:
        tokens = {meter: count for meter, count in counts.items() if meter in DEPTHS}
        others = _others({meter: count for meter, count in counts.items() if count and meter not in DEPTHS}, rates)
    exclusive = _exclusive(tokens, rates)
    for meter, count in exclusive.items():
        if count < 0:
            return {}, f"the counts contradict each other: {meter} has fewer tokens than its parts"
    return exclusive | others, None


def is_ambiguous(usage: Usage, billing: Billing, rates: Mapping[str, Decimal | None]) -> bool:
    """Returns whether cached tokens may be of audio, images or video, which the response does not say, and this changes
    the cost: it is computed as if none were.
    """
    if not usage.cached or "cache_read" not in rates:
        return False
    counted = {"input_audio": usage.input_audio, **billing.counts}
    kinds = (kind for kind in _KINDS if counted.get(f"input_{kind}") and f"input_{kind}" in rates)
    return any(f"cache_read_{kind}" not in billing.counts for kind in kinds)


_KINDS: Final = ("audio", "image", "video")


def _reported_counts(usage: Usage, billing: Billing) -> dict[str, int]:
    """Returns the counts that were reported by meter: a 0 contradicts parts above 0."""
    given, produced = tokens_of(usage, billing)
    counts = {
        "input": given,
        "output": produced,
        "cache_read": usage.cached,
        "cache_write": usage.cache_written,
        "reasoning": usage.reasoning,
        "input_audio": usage.input_audio,
        "output_audio": usage.output_audio,
        **billing.counts,
    }
    return {meter: count for meter, count in counts.items() if count is not None and meter not in _INSTEAD}


def _exclusive(counts: dict[str, int], rates: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Returns the tokens of each meter with a price without those of the meters with a price below it."""
    exclusive: dict[str, int] = {}
    left = dict(counts)
    for meter in sorted(counts, key=DEPTHS.__getitem__, reverse=True):
        count = left[meter]
        if not count or (meter not in rates and len(METERS[meter].parents) == 1):
            continue
        for each in ANCESTORS[meter]:
            if each in left:
                left[each] -= count
        payer = _payer(meter, rates)
        exclusive[payer] = exclusive.get(payer, 0) + count
    return exclusive


def _payer(meter: str, rates: Mapping[str, Decimal | None]) -> str:
    """Returns the meter whose price applies: its own, else that of its nearest parent with one."""
    while meter not in rates and METERS[meter].parents:
        parents = METERS[meter].parents
        meter = next((parent for parent in parents if parent in rates), parents[0])
    return meter


def _others(counts: dict[str, int], rates: Mapping[str, Decimal | None]) -> dict[str, int]:
    """Returns the counts of fees and the like; one that is charged by another meter gets that meter's name."""
    for meter in rates:
        other = METERS[meter].count
        if other in counts:
            count = counts.pop(other)
            counts[meter] = 1 if METERS[meter].once else count
    return counts


FindRows: TypeAlias = Callable[[str], Sequence[PriceRow]]
"""Returns the price rows of a model by its name; none for a model without prices."""

_MOST_NAMES: Final = 32  # those that answer for one model; a server may name any number
_LATEST: Final = 253_402_300_799.0  # 9999-12-31T23:59:59Z
_PLACES: Final = Decimal("1E-12")
_NO_BILLING: Final = Billing()
_LENGTH: Final = "audio_second"


@dataclass(frozen=True, slots=True)
class _Rates:
    """The prices that some conditions leave, and whether tokens of the input and the output have one above 0."""

    by_meter: dict[str, Decimal | None]
    digest: str
    input: bool
    output: bool


class ModelPricing:
    """The prices of a model at a provider.

    A response of another model, which the provider chose, has that model's prices if it has any. Otherwise the prices
    of `model` are an estimate, unless the two are the same to `same_model`.
    """

    def __init__(
        self, provider: str, model: str, find_rows: FindRows, same_model: Callable[[str, str], bool] = str.__eq__
    ) -> None:
        self._provider = provider
        self._model = model
        self._find_rows = find_rows
        self._same_model = same_model
        self._rows: dict[str, Sequence[PriceRow]] = {}
        self._rates: dict[tuple[int, tuple[int, ...]], _Rates] = {}

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one response: the one that the vendor reported, else the one that a price row gives."""
        billing = response.usage.billing or _NO_BILLING
        if billing.cost is not None:
            return Charge(billing.cost, "vendor")
        try:
            model, rows = self._model_with_prices(response.model)
        except ConfigurationError as error:
            return Charge(reason=error.message)
        if not rows:
            return Charge(reason=f"no price is known for {self._place(model)}")
        at = min(max(0.0, response.requested_at), _LATEST)  # in this order, NaN becomes 0
        row = next((row for row in rows if row.covers(at)), None)
        if row is None:
            day = datetime.fromtimestamp(at, UTC).date()
            return Charge(reason=f"no price is known for {self._place(model)} on {day}")
        return self._by(row, response, billing, model, at)

    def _model_with_prices(self, model: str) -> tuple[str, Sequence[PriceRow]]:
        """Returns the model whose prices apply, with its rows: the one that the response names, else the requested."""
        for name in (model, self._model):
            if name:
                rows = self._rows.get(name)
                if rows is None:
                    rows = self._find_rows(name)
                    if len(self._rows) < _MOST_NAMES:
                        self._rows[name] = rows
                if rows:
                    return name, rows
        return self._model, ()

    def _by(self, row: PriceRow, response: BilledResponse, billing: Billing, model: str, at: float) -> Charge:
        """Returns the cost by a row."""
        terms = response.terms
        tier = (terms.window or billing.tier or terms.tier or "").lower()
        region = (billing.region or terms.region or "").lower()
        if not row.knows_tier(tier):
            return Charge(reason=f"no price is known for the service tier {tier!r} of {self._place(model)}")
        given, produced = tokens_of(response.usage, billing)
        request = PricedRequest(tier, region, given or 0, at)
        applied = row.applied(request)
        for index in applied:
            if not row.conditions[index].sold:
                return Charge(reason=_not_sold(self._place(model), request))
        rates = self._rates_of(row, applied)
        by_length = given is None and produced is None and _has_length(billing, rates)
        if not by_length and ((given is None and rates.input) or (produced is None and rates.output)):
            return Charge(reason=f"{'input' if given is None and rates.input else 'output'} tokens were not reported")
        counts, contradiction = charged_counts(response.usage, billing, rates.by_meter)
        if contradiction:
            return Charge(reason=contradiction)
        if not counts and rates.by_meter.keys().isdisjoint(("input", "output")):
            return Charge(reason="nothing that has a price was reported")
        dollars, unpriced = _total(counts, rates.by_meter, row)
        if dollars is None:
            return Charge(reason=f"no price is known for {unpriced} of {self._place(model)}")
        assumed = not response.complete or not row.sure or (row.sure_until is not None and at >= row.sure_until)
        assumed = assumed or (not terms.window and not billing.tier and terms.tier not in _CERTAIN_TIERS)
        assumed = assumed or not row.knows_region(region) or not row.allowances.isdisjoint(counts)
        assumed = assumed or self._is_other(response.model, model)
        assumed = assumed or (by_length and (rates.input or rates.output))
        assumed = assumed or not row.knows_holidays(at) or is_ambiguous(response.usage, billing, rates.by_meter)
        return Charge(dollars, "estimate" if assumed else "computed", None, rates.digest)

    def _is_other(self, named: str, priced: str) -> bool:
        """Returns whether a response names another model than the one whose prices apply."""
        return bool(named) and named != priced and not self._same_model(named, priced)

    def _rates_of(self, row: PriceRow, applied: tuple[int, ...]) -> _Rates:
        """Returns the prices after conditions, which are computed once for each set of conditions."""
        known = self._rates.get((id(row), applied))
        if known is None:
            by_meter = row.rates_with(applied)
            kinds = {METERS[meter].kind for meter, rate in by_meter.items() if rate is None or rate}
            digest = f"{row.digest}:{','.join(map(str, applied))}" if applied else row.digest
            known = _Rates(by_meter, digest, "in" in kinds, "out" in kinds)
            known = self._rates.setdefault((id(row), applied), known)
        return known

    def _place(self, model: str) -> str:
        return f"{model!r} at {self._provider!r}" if self._provider else repr(model)


_CERTAIN_TIERS: Final = STANDARD_TIERS - {"auto"} | {None}
"""Requested tiers that are served as requested."""


def _has_length(billing: Billing, rates: _Rates) -> bool:
    """Returns whether the length of a recording was reported, and has a price: for a model with prices of tokens, its
    vendor's estimate.
    """
    return _LENGTH in billing.counts and bool(rates.by_meter.get(_LENGTH))


def _not_sold(place: str, request: PricedRequest) -> str:
    tier = f"the service tier {request.tier!r}" if request.tier not in STANDARD_TIERS else "this"
    return f"{tier} is not sold for {place} with {request.input_tokens:,} tokens of input"


def _total(counts: dict[str, int], rates: dict[str, Decimal | None], row: PriceRow) -> tuple[Decimal | None, str]:
    """Returns US dollars for counts; None, and the meter, if one has no price."""
    dollars = Decimal(0)
    for meter, count in counts.items():
        rate = rates.get(meter)
        if rate is None:
            return None, meter
        least = row.least.get(meter)
        amount = EXACT.multiply(rate, count if least is None else max(least, count))
        scale = SCALES.get(METERS[meter].unit)
        if scale is None:
            amount = EXACT.quantize(EXACT.divide(amount, METERS[meter].unit), _PLACES)
        else:
            amount = EXACT.multiply(amount, scale)
        dollars = EXACT.add(dollars, amount)
    return dollars, ""
