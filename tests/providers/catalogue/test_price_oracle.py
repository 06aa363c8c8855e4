"""Costs of plain requests, compared with those that genai-prices computes from its own table with its own code."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from random import Random

import genai_prices
import pytest

from abstractcore import Services, Usage
from abstractcore.ports import BilledResponse, Terms

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
PROVIDERS = {
    "anthropic": "anthropic",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "google": "google",
    "groq": "groq",
    "mistral": "mistral",
    "openai": "openai",
    "openai-responses": "openai",
    "xai": "x-ai",
}
"""Our providers with its names for them. At the others, its prices have no regions, or our rows are kept by hand."""
DIFFERENT = {
    ("anthropic", "claude-sonnet-4-5"): "it has a price for long prompts, which the page does not have",
    ("google", "gemini-3.5-flash"): "Google answers with 3.6 Flash, which costs less",
    ("mistral", "mistral-medium"): "it has the price of Medium 3; the name stands for Medium 3.5",
    ("mistral", "magistral-medium-latest"): "the name stands for Medium 3.5",
    ("mistral", "magistral-small-latest"): "the name stands for Small 4",
    ("mistral", "codestral-latest"): "it takes it for an older Codestral; the name stands for 2508",
    ("mistral", "mistral-large-latest"): "it takes it for Large 2; the name stands for Large 3",
}
"""Why a cost is not the same. Each is decided for the row of the catalogue."""


@pytest.fixture(scope="module")
def catalogue():
    services = Services(environment={})
    yield services.catalogue
    services.close()


def usages(random: Random) -> list[Usage]:
    """Returns plain usages, with and without a cache, short and long."""
    found: list[Usage] = []
    for longest in (1_000, 90_000, 1_000_000):
        given, produced = random.randint(longest // 2, longest), random.randint(0, 50_000)
        cached, written = random.randint(0, given // 2), random.randint(0, given // 2)
        found += [Usage(given, produced), Usage(given, produced, cached, written)]
    return found


TIERS = {
    "anthropic": {"batch": {"processing": "batch"}, "fast": {"speed": "fast"}},
    "google": {"batch": {"processing": "batch"}},
    "mistral": {"batch": {"processing": "batch"}},
    "openai": {
        "batch": {"processing": "batch"},
        "flex": {"service_tier": "flex"},
        "priority": {"service_tier": "priority"},
    },
    "xai": {"batch": {"processing": "batch"}},
}
"""Service tiers that it has for some models, with its names for them."""


def theirs(provider: str, model: str, usage: Usage, tier: dict[str, str] | None = None) -> Decimal | None:
    """Returns what genai-prices computes; None for a model that it does not know under this very name."""
    counted = genai_prices.Usage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cached,
        cache_write_tokens=usage.cache_written,
    )
    try:
        found = genai_prices.calc_price(
            counted, model, provider_id=provider, genai_request_timestamp=NOW, price_context=tier
        )
    except LookupError:
        return None
    return found.total_price


@pytest.mark.parametrize("provider", PROVIDERS)
def test_costs_of_plain_requests_are_those_of_another_table(catalogue, provider):
    random, compared, different = Random(provider), 0, set[str]()
    for model in catalogue.models(provider).names:
        pricing = catalogue.pricing(provider, model)
        for usage in usages(random):
            charge = pricing.charge(BilledResponse(usage, requested_at=NOW.timestamp()))
            expected = theirs(PROVIDERS[provider], model, usage)
            if charge.dollars is None or expected is None:
                continue
            compared += 1
            if charge.dollars != expected:
                different.add(model)
    assert compared >= 10
    assert different == {model for name, model in DIFFERENT if name == provider}


@pytest.mark.parametrize(("provider", "tier"), [(name, tier) for name, tiers in TIERS.items() for tier in tiers])
def test_costs_of_service_tiers_are_those_of_another_table(catalogue, provider, tier):
    """Only models whose price changes with the tier there, since it charges others as the standard tier, and only costs
    that are known to us: it guesses prices that a page leaves out.
    """
    random, compared, different = Random(tier), 0, set[str]()
    for model in catalogue.models(provider).names:
        pricing = catalogue.pricing(provider, model)
        for usage in usages(random):
            standard = theirs(PROVIDERS[provider], model, usage)
            expected = theirs(PROVIDERS[provider], model, usage, TIERS[provider][tier])
            if expected is None or expected == standard:
                continue
            billed = BilledResponse(usage, requested_at=NOW.timestamp(), terms=Terms(window=tier))
            charge = pricing.charge(billed)
            if charge.dollars is None:
                continue
            compared += 1
            if charge.dollars != expected:
                different.add(model)
    assert compared >= 10
    assert different <= {model for name, model in DIFFERENT if name == provider}
