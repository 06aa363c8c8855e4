"""The rows of all models: each is found by its names, has a source and the day on which it was checked."""

from datetime import date

import pytest

from tests.providers.catalogue_rows import PROVIDERS, header, models, rows
from tests.providers.sessions import CATALOGUE


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_name_is_known(provider: str):
    assert [name for name in models(provider) if not CATALOGUE.profile(provider, name).known] == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_row_has_a_source_and_a_day(provider: str):
    sources = header(provider)["sources"]
    for model, row in rows(provider).items():
        assert sources[row["source"]], model
        assert date.fromisoformat(row["checked"]) <= date.fromisoformat(header(provider)["as_of"]), model


@pytest.mark.parametrize("provider", [each for each in PROVIDERS if header(each)["unknown"].get("known") is False])
def test_an_unknown_model_is_not_known_and_nothing_is_refused(provider: str):
    profile = CATALOGUE.profile(provider, "brand-new")
    assert not profile.known
    assert profile.assumed
    assert (profile.tools, profile.refused_with_thinking, profile.thinking) == (None, frozenset(), None)


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-6.9-sol"), ("anthropic", "claude-opus-5-9"), ("google", "gemini-3.9-flash")]
)
def test_a_new_member_is_not_read_as_an_older_one(provider: str, model: str):
    assert not CATALOGUE.profile(provider, model).known


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5.4-2026-03-05"),
        ("bedrock", "us.anthropic.claude-opus-5-5"),
        ("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0"),
        ("google", "models/gemini-3.8-flash"),
        ("ollama", "qwen3-vl:8b"),
        ("openrouter", "moonshotai/kimi-k3:free"),
    ],
)
def test_variants_of_a_name_are_known(provider: str, model: str):
    assert CATALOGUE.profile(provider, model).known
