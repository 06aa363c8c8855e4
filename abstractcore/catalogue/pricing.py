"""`ModelPricing`: what the responses of a model cost, by its price rows.

Each response is charged by itself: long contexts, tiers and dates are those of one request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TypeAlias

from ..errors import ConfigurationError
from ..ports import BilledResponse, Charge
from ..schema import Billing
from .charged_counts import charged_counts, is_ambiguous, tokens_of
from .meters import EXACT, METERS, SCALES
from .price_conditions import STANDARD_TIERS, PricedRequest
from .price_rows import PriceRow

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
            model, rows = self._priced(response.model)
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

    def _priced(self, model: str) -> tuple[str, Sequence[PriceRow]]:
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
