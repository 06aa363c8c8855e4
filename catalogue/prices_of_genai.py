"""Price rows from the data of genai-prices: its prices, not its way of matching models.

A date at which a price changes begins another row. A price for long prompts, or for a service tier, becomes a condition
of the row: a factor if it changes all tokens of the input, or of the output, in the same proportion, else prices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ClauseEquals,
    ClauseOr,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)
from rows import Row

METERS = {
    "input_mtok": "input",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
    "input_audio_mtok": "input_audio",
    "input_image_mtok": "input_image",
    "input_video_mtok": "input_video",
    "cache_audio_read_mtok": "cache_read_audio",
    "cache_image_read_mtok": "cache_read_image",
    "output_mtok": "output",
    "output_reasoning_mtok": "reasoning",
    "output_audio_mtok": "output_audio",
    "output_image_mtok": "output_image",
    "output_video_mtok": "output_video",
    "output_citation_mtok": "citation",
    "web_searches_kcount": "web_search",
    "storage_searches_kcount": "file_search",
    "audio_hours": "audio_second",
    "input_audio_hours": "audio_second",
    "input_document_kpages": "page",
    "input_annotated_document_kpages": "annotated_page",
    "input_mchars": "character",
}
"""Our meters for its price keys. Others are left out: they are fees that depend on the request."""
IN = (
    *("input", "cache_read", "cache_write", "cache_write_1h", "input_audio", "input_image", "input_video"),
    *("cache_read_audio", "cache_read_image"),
)
OUT = ("output", "reasoning", "output_audio", "output_image", "output_video")
FEES = ("web_search", "file_search")
_CONTEXTS = {"batch": {"processing": "batch"}, "fast": {"speed": "fast"}}
_SERVICE_TIERS = ("flex", "priority", "fast")
_END = date(2100, 1, 1)
_OLDEST = date(2026, 7, 1)
"""Prices that ended before are left out: a record of an older call has its cost."""
_DATED = re.compile(r"(-20\d\d-?\d\d-?\d\d|-\d\d-20\d\d|-0\d{3}|-2[56]\d\d|@\d+)?(-v\d(:\d)?|-\d:\d|:\d)?$")

Prices = dict[str, Decimal]


@dataclass(frozen=True)
class GenaiModel:
    """A model with its price rows, and the ids that are exactly its names."""

    id: str
    names: frozenset[str]
    rows: list[Row]


def genai_models(provider: str) -> dict[str, GenaiModel]:
    """Returns the models of one of its providers, without those that it marks as deprecated."""
    # Not `genai_prices.data.providers`: the type checker would infer the whole table, as long as all else takes.
    (found,) = (each for each in get_snapshot().providers if each.id == provider)
    models = (
        GenaiModel(_id(each), frozenset(_names(each)), _rows(each)) for each in found.models if not each.deprecated
    )
    return {each.id: each for each in models if each.rows}


def without_date(model: str) -> str:
    """Returns the id of a model without the date and the version at its end."""
    return _DATED.sub("", model)


def _id(model: ModelInfo) -> str:
    """Returns the name that calls have: its id, or the exact name that is a path to it ("accounts/NAME/models/ID")."""
    return next((name for name in sorted(_names(model)) if name.endswith(f"/{model.id}")), model.id)


def _names(model: ModelInfo) -> Iterable[str]:
    yield model.id
    waiting: list[Any] = [model.match]
    while waiting:
        clause = waiting.pop()
        if isinstance(clause, ClauseEquals):
            yield clause.equals
        elif isinstance(clause, ClauseOr):
            waiting += clause.or_


def _rows(model: ModelInfo) -> list[Row]:
    """Returns the rows, oldest first; none for prices by the hour of the day."""
    if any(isinstance(each.constraint, TimeOfDateConstraint) for each in _conditional(model)):
        return []
    rows: list[Row] = []
    starts = sorted(_starts(model))
    for start, end in pairwise([*starts, None]):
        if end is not None and end < _OLDEST:
            continue
        # The dates of prices of tiers are those of their first record: the last day of the span has all.
        row = _row(model, datetime.combine((end or _END) - timedelta(days=1), time(12), UTC))
        if not row["rates"]:
            continue
        span: Row = {"from": start.isoformat()} if start and start > date.min else {}
        span |= {"until": end.isoformat()} if end is not None else {}
        rows.append(span | row)
    return rows


def _conditional(model: ModelInfo) -> list[ConditionalPrice]:
    return model.prices if isinstance(model.prices, list) else []


def _starts(model: ModelInfo) -> set[date]:
    constraints = (each.constraint for each in _conditional(model))
    return {date.min} | {each.start_date for each in constraints if isinstance(each, StartDateConstraint)}


def _row(model: ModelInfo, at: datetime) -> Row:
    standard = model.get_prices(at)
    bands = sorted({tier.start for price in vars(standard).values() for tier in _tiers(price)})
    rates = _at(standard, 0)
    conditions: list[Row] = []
    before = rates
    for start in bands:
        after = _at(standard, start + 1)
        conditions.append({**_above(start), **_effect(before, after)})
        before = after
    for tiers, price in _grouped(_by_tier(model, at)):
        conditions += _of_tier(tiers, price, standard, bands)
    row: Row = {"rates": {meter: f"{rate.normalize():f}" for meter, rate in rates.items()}}
    return {**row, "when": conditions} if conditions else row


def _of_tier(tiers: list[str], price: ModelPrice, standard: ModelPrice, bands: list[int]) -> Iterable[Row]:
    """Returns the conditions of service tiers with the same prices."""
    effect = _effect(_at(standard, 0), _at(price, 0)) or {"times": "1"}
    yield {"tier": tiers, **effect}
    for start in bands:
        wanted, found = _at(price, start + 1), _applied(effect, _at(standard, start + 1))
        if wanted != found:
            changed = {meter: f"{rate.normalize():f}" for meter, rate in wanted.items() if found.get(meter) != rate}
            yield {"tier": tiers, **_above(start), "rates": changed}


def _by_tier(model: ModelInfo, at: datetime) -> dict[str, ModelPrice]:
    variants = model.price_variants or ()
    wanted = {tier: context for tier, context in _CONTEXTS.items() if any(each.when == context for each in variants)}
    for tier in _SERVICE_TIERS:
        if any(each.when == {"service_tier": tier} for each in variants):
            wanted[tier] = {"service_tier": tier}
    return {tier: model.get_prices(at, context) for tier, context in wanted.items()}


def _grouped(by_tier: Mapping[str, ModelPrice]) -> Iterable[tuple[list[str], ModelPrice]]:
    left = dict(sorted(by_tier.items()))
    while left:
        first = next(iter(left.values()))
        same = [tier for tier, price in left.items() if price == first]
        yield same, first
        for tier in same:
            del left[tier]


def _above(start: int) -> Row:
    """Returns the condition of a price for long prompts; "at least 200,000" is written as "more than 199,999"."""
    return {"input_from": start + 1} if start % 1000 == 999 else {"input_over": start}


def _tiers(price: object) -> list[Any]:
    return price.tiers if isinstance(price, TieredPrices) else []


def _at(price: ModelPrice, tokens: int) -> Prices:
    """Returns the prices of a request with so many tokens of input."""
    found: Prices = {}
    for key, value in vars(price).items():
        if value is not None and key in METERS:
            over = [tier.price for tier in _tiers(value) if tokens > tier.start]
            base = value.base if isinstance(value, TieredPrices) else value
            found[METERS[key]] = over[-1] if over else base
    return found


def _effect(before: Prices, after: Prices) -> Row:
    """Returns the effect of a condition that turns one set of prices into another; empty without a change."""
    if before == after:
        return {}
    given, produced = _factor(before, after, IN), _factor(before, after, OUT)
    others = {meter: rate for meter, rate in after.items() if meter not in (*IN, *OUT) and before.get(meter) != rate}
    if given is None or produced is None or before.keys() != after.keys() or others:
        changed = {meter: f"{rate.normalize():f}" for meter, rate in after.items() if before.get(meter) != rate}
        return {"rates": changed}
    if given == produced and not any(meter not in (*IN, *OUT, *FEES) for meter in after):
        return {"times": given}
    return {"times": {"in": given, "out": produced}}


def _factor(before: Prices, after: Prices, meters: Iterable[str]) -> str | None:
    """Returns the one factor of these meters; None if there are several."""
    shared = [meter for meter in meters if meter in before and meter in after]
    factors = {(after[meter] / before[meter]) if before[meter] else Decimal(1) for meter in shared} or {Decimal(1)}
    (factor, *more) = factors
    exact = factor == round(factor, 6) and all(before[meter] * factor == after[meter] for meter in shared)
    return None if more or not exact else f"{factor.normalize():f}"


def _applied(effect: Row, prices: Prices) -> Prices:
    times: Any = effect.get("times", "1")
    factors = {"in": times, "out": times} if isinstance(times, str) else times
    changed = {
        meter: rate * Decimal(factors["in"] if meter in IN else factors["out"] if meter in OUT else "1")
        for meter, rate in prices.items()
    }
    return changed | {meter: Decimal(rate) for meter, rate in effect.get("rates", {}).items()}
