"""Recordings are charged by tokens where these are reported, else by their length."""

from __future__ import annotations

from decimal import Decimal

from abstractcore.catalogue import ModelPricing, PriceHeader, read_price_rows
from abstractcore.ports import BilledResponse, Charge
from abstractcore.schema import Billing, Usage

HEADER = PriceHeader.read({})
BY_TOKENS = {"rates": {"input": "2.5", "input_audio": "6", "output": "10"}}
BY_BOTH = {"rates": {**BY_TOKENS["rates"], "audio_second": "0.36"}}
A_MINUTE = Billing(counts={"audio_second": 60})


def charge(row: object, usage: Usage) -> Charge:
    rows = read_price_rows((row,), HEADER, "vendor", "m")
    return ModelPricing("vendor", "m", lambda name: rows).charge(BilledResponse(usage))


def test_length_alone_is_an_estimate_where_tokens_have_a_price():
    by_length = charge(BY_BOTH, Usage(billing=A_MINUTE))
    assert (by_length.dollars, by_length.source) == (Decimal("0.006"), "estimate")


def test_tokens_are_charged_where_they_are_reported():
    by_tokens = charge(BY_BOTH, Usage(1_000, 100, input_audio=1_000))
    assert (by_tokens.dollars, by_tokens.source) == (Decimal("0.007"), "computed")
    half = charge(BY_BOTH, Usage(1_000, billing=A_MINUTE))
    assert half == Charge(reason="output tokens were not reported")


def test_length_without_a_price_is_not_charged():
    assert charge(BY_TOKENS, Usage(billing=A_MINUTE)).reason == "input tokens were not reported"
