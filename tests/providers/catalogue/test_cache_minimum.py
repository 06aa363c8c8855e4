"""`cache_minimum`: the shortest prefix that a model caches, as the vendors' pages say."""

from __future__ import annotations

import pytest

from abstractcore import CachePoint, Message, Services, TextPart, create_llm


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("anthropic", "claude-opus-5-5", 512),
        ("anthropic", "claude-haiku-5-5", 512),
        ("anthropic", "claude-sonnet-5", 1024),
        ("anthropic", "claude-opus-4-7", 2048),
        ("anthropic", "claude-haiku-4-5", 4096),
        ("bedrock", "anthropic.claude-opus-4-5", 4096),
        ("bedrock", "amazon.nova-pro-v1:0", 1000),
        ("openai", "gpt-4o", 1024),
        ("openai-responses", "gpt-6.2-sol", 1024),
        ("google", "gemini-3.8-flash", 4096),
        ("google", "gemini-4-argon", 6144),
        ("anthropic", "claude-fable-5-2", None),
        ("groq", "openai/gpt-oss-120b", None),
    ],
)
def test_shortest_prefix_that_is_cached(provider: str, model: str, expected: int | None):
    assert Services(environment={}).catalogue.profile(provider, model).cache_minimum == expected


@pytest.mark.parametrize(("size", "codes"), [(100, ["cache_too_short"]), (5000, [])])
def test_dry_run_of_a_vendor_s_model_reports_a_point_without_effect(size: int, codes: list[str]):
    llm = create_llm("anthropic/claude-haiku-4-5", api_key="key")
    plan = llm.plan("What does it say?", messages=[Message.user(TextPart("a" * size, cache=CachePoint()))])
    assert [each.code for each in plan.warnings] == codes
