"""Worked examples of vendors' price pages: each through the catalogue, as a response is charged."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Billing, Services, Usage, create_llm
from abstractcore.ports import BilledResponse, Terms

EXAMPLES = [json.loads(line) for line in (Path(__file__).parent / "price_examples.jsonl").read_text().splitlines()]
BY_REQUEST = ("batch", "background_2h", "background_8h")
"""What a request asks for, and no response reports."""


@pytest.fixture(scope="module")
def catalogue():
    services = Services(environment={})
    yield services.catalogue
    services.close()


def name_of(example: dict[str, Any]) -> str:
    changes = [example[name] for name in ("tier", "region") if name in example]
    return "-".join((example["provider"], example["model"], *changes, example["at"][:10], str(example["cost"])))


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_cost_of_the_example_is_that_of_the_page(catalogue, example):
    charge = catalogue.pricing(example["provider"], example["model"]).charge(response_of(example))
    assert charge.dollars == (None if example["cost"] is None else Decimal(example["cost"])), charge
    assert (charge.source is None, charge.reason is None) == (charge.dollars is None, charge.dollars is not None)
    assert (charge.source == "vendor") == ("reported" in example)


def response_of(example: dict[str, Any]) -> BilledResponse:
    tier, region = example.get("tier"), example.get("region")
    if example["provider"] == "bedrock":
        region = region_of(example["model"])
    window = tier if tier in BY_REQUEST else None
    reported = example.get("reported")
    billing = Billing(
        cost=None if reported is None else Decimal(reported),
        tier=None if window else tier,
        counts=example.get("counts", {}),
    )
    return BilledResponse(
        Usage(**example["usage"], billing=billing),
        requested_at=datetime.fromisoformat(example["at"]).timestamp(),
        terms=Terms(region=region, window=window),
    )


def region_of(model: str) -> str | None:
    """Returns the region that a session for a model of Bedrock knows."""
    llm = create_llm("bedrock", model=model, region="us-east-1", api_key="k")
    return llm._pipelines.session.terms(llm.build("hi")).region


def test_examples_are_many_and_name_their_pages():
    assert len(EXAMPLES) >= 100
    assert len({name_of(example) + example["how"] for example in EXAMPLES}) == len(EXAMPLES)
    assert all(example["page"].startswith("https://") for example in EXAMPLES)
    assert len([example for example in EXAMPLES if example["read"] == "page"]) >= 40
