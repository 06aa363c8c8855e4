"""Prices of Bedrock by area and region: those of another source, or an estimate."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import Services, Usage, create_llm
from abstractcore.ports import BilledResponse

FACTS = Path(__file__).parents[3] / "catalogue" / "sources" / "model_facts.jsonl"
AREAS = ("us.", "us-gov.", "eu.", "apac.", "jp.", "au.", "global.")
NOON = 1_795_348_800.0
TOKENS = 10_000
"""Of the input and of the output: below the long context of every model."""


@pytest.fixture(scope="module")
def services():
    services = Services(environment={})
    yield services
    services.close()


def charge_of(services, model: str, region: str):
    llm = create_llm("bedrock", model=model, region=region, api_key="k", services=services)
    terms = llm._pipelines.session.terms(llm.build("hi"))
    usage = Usage(TOKENS, TOKENS)
    return services.catalogue.pricing("bedrock", model).charge(BilledResponse(usage, requested_at=NOON, terms=terms))


@pytest.mark.parametrize(
    ("model", "region", "dollars", "source"),
    [
        ("amazon.nova-pro-v1:0", "us-east-1", "4", "computed"),
        ("amazon.nova-pro-v1:0", "us-gov-west-1", "4.8", "computed"),
        ("amazon.nova-pro-v1:0", "eu-west-2", "4", "estimate"),
        ("anthropic.claude-opus-5-5", "us-gov-west-1", "28.8", "computed"),
        ("anthropic.claude-opus-5-5", "eu-west-2", "26.4", "computed"),
        ("openai.gpt-oss-120b-1:0", "us-gov-west-1", "0.9", "computed"),
        ("openai.gpt-oss-120b-1:0", "us-west-2", "0.75", "computed"),
        ("nvidia.nemotron-super-3-120b", "us-east-1", "0.8", "computed"),
        ("nvidia.nemotron-super-3-120b", "eu-west-2", "0.8", "estimate"),
        ("global.openai.gpt-5.4", "eu-west-1", "17.5", "computed"),
        ("us.openai.gpt-5.4", "us-east-1", "19.25", "computed"),
        ("openai.gpt-5.5", "us-east-1", "38.5", "computed"),
    ],
)
def test_price_is_that_of_the_region_or_an_estimate(services, model, region, dollars, source):
    charge = charge_of(services, model, region)
    assert charge.dollars is not None
    assert (charge.dollars * 1_000_000 / TOKENS, charge.source) == (Decimal(dollars), source)


def profiles() -> list[tuple[str, Decimal]]:
    """Returns the inference profiles that the other source lists, each with its price of a million tokens each way."""
    lines = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in FACTS.read_text().splitlines()]
    found = [line for line in lines if line["provider"] == "bedrock_converse" and line["id"].startswith(AREAS)]
    prices = {line["id"]: line.get("usd_per_million_tokens", {}) for line in found}
    return [(name, each["input"] + each["output"]) for name, each in prices.items() if "input" in each]


def test_computed_prices_of_profiles_are_those_of_the_other_source(services):
    charges = {name: (charge_of(services, name, "us-east-1"), price) for name, price in profiles()}
    known = {name: each for name, each in charges.items() if each[0].source == "computed"}
    wrong = {n: (c.dollars, price) for n, (c, price) in known.items() if c.dollars * 1_000_000 / TOKENS != price}
    assert wrong == {}
    assert len(known) > 80


def test_every_price_of_bedrock_depends_on_the_region(services):
    models = services.catalogue.models("bedrock")
    rows = [row for name in models.names for row in models.price_rows(name)]
    assert len(rows) > 60
    assert all(row.knows_region("us-east-1") and row.conditions for row in rows)
