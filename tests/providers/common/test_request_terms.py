"""What requests ask for that changes their price: tiers in the options of a call, regions of addresses and models."""

from __future__ import annotations

import pytest

from abstractcore import create_llm
from abstractcore.ports import Terms


def terms(services, provider: str, model: str = "m", options: object = None, **given: object) -> Terms:
    llm = create_llm(provider, model=model, api_key="k", services=services, **given)
    call = llm.build("hi", provider_options={} if options is None else {provider: options, "other": {"speed": "fast"}})
    return llm._pipelines.session.terms(call)


@pytest.mark.parametrize(
    ("provider", "options", "expected"),
    [
        ("openai", None, Terms()),
        ("openai", {"service_tier": "flex"}, Terms("flex")),
        ("openai", {"metadata": {"a": "b"}}, Terms()),
        ("openai-responses", {"service_tier": "ultrafast"}, Terms("ultrafast")),
        (
            "openai-responses",
            {"background_options": {"completion_window": "2h"}, "background": True},
            Terms(window="background_2h"),
        ),
        ("groq", {"service_tier": "auto"}, Terms("auto")),
        ("anthropic", {"service_tier": "standard_only"}, Terms("standard_only")),
        ("anthropic", {"speed": "fast", "service_tier": "auto", "inference_geo": "us"}, Terms("fast", "us")),
        ("google", {"serviceTier": "priority"}, Terms("priority")),
        ("openai", {"service_tier": 5, "background_options": []}, Terms()),
    ],
)
def test_service_tier_of_the_options_is_requested(services, provider, options, expected):
    assert terms(services, provider, options=options) == expected


BEDROCK = {"region": "us-east-1"}


@pytest.mark.parametrize(
    ("provider", "model", "given", "region"),
    [
        ("openai", "m", {}, None),
        ("openai", "m", {"base_url": "https://eu.api.openai.com/v1"}, "eu"),
        ("openai-responses", "m", {"base_url": "https://us.api.openai.com/v1"}, "us"),
        ("openai", "m", {"base_url": "https://gateway.example.com/v1"}, None),
        ("xai", "m", {"base_url": "https://us.api.x.ai/v1"}, "us"),
        ("mistral", "m", {"base_url": "https://api.eu.mistral.ai/v1"}, "eu"),
        ("mistral", "m", {"base_url": "https://eu.api.eu.mistral.ai/v1"}, None),
        ("bedrock", "anthropic.claude-opus-5-5", BEDROCK, "us-east-1"),
        ("bedrock", "anthropic.claude-opus-5-5", {"region": "us-gov-west-1"}, "us-gov-west-1"),
        ("bedrock", "m", {**BEDROCK, "base_url": "https://bedrock-runtime-fips.eu-west-2.amazonaws.com"}, "eu-west-2"),
        (
            "bedrock",
            "m",
            {"base_url": "https://vpce-1.bedrock-runtime.eu-west-2.vpce.amazonaws.com"},
            "eu-west-2",
        ),
        ("bedrock", "m", {**BEDROCK, "base_url": "https://gateway.example.com"}, "us-east-1"),
        ("bedrock", "m", {"base_url": "https://gateway.example.com"}, "single"),
        ("bedrock", "global.anthropic.claude-opus-5-5", BEDROCK, "global"),
        ("bedrock", "us-gov.anthropic.claude-opus-5-5", BEDROCK, "us-gov"),
        ("bedrock", "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-pro-v1:0", BEDROCK, "eu"),
        ("vertex", "m", {"project": "p", "location": "europe-west4"}, "europe-west4"),
        ("vertex", "m", {"project": "p"}, "global"),
        ("vertex", "m", {}, None),
    ],
)
def test_region_is_that_of_the_address_or_of_the_model(services, provider, model, given, region):
    assert terms(services, provider, model, **given).region == region


def test_tier_and_window_of_bedrock(services):
    assert terms(services, "bedrock", options={"serviceTier": {"type": "flex"}}, **BEDROCK).tier == "flex"
    options = {"performanceConfig": {"latency": "optimized"}}
    assert terms(services, "bedrock", options=options, **BEDROCK).tier == "optimized"
    assert terms(services, "bedrock", options={"performanceConfig": {"latency": "standard"}}, **BEDROCK).tier is None
