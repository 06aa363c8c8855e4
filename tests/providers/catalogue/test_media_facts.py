"""`media_limits` and `produces` of the vendors' models."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.ports import ModelCatalogue, ModelProfile
from tests.catalogue_files import PROVIDER, catalogue_of
from tests.providers.catalogue_rows import PROVIDERS, models


@cache
def installed() -> ModelCatalogue:
    return Services(environment={}).catalogue


def profile(provider: str, model: str) -> ModelProfile:
    return installed().profile(provider, model)


@pytest.mark.parametrize(
    ("provider", "model", "limits"),
    [
        ("anthropic", "claude-opus-5-5", {"images": 600, "image_bytes": 7_500_000, "all_pdf_pages": 600}),
        ("anthropic", "claude-haiku-4-5", {"images": 100, "image_pixels": 8000, "many_image_pixels": 2000}),
        ("bedrock", "anthropic.claude-opus-5-5", {"images": 600, "image_bytes": 3_750_000, "documents": 5}),
        ("bedrock", "amazon.nova-pro-v1:0", {"images": 20, "image_bytes": 3_750_000, "document_bytes": 4_500_000}),
        ("openai", "gpt-5.4", {"images": 1500, "request_bytes": 512_000_000, "pdf_bytes": 50_000_000}),
        ("google", "gemini-3.8-flash", {"images": 3600, "pdf_pages": 1000, "audio_seconds": 34_200, "videos": 10}),
        ("google", "gemini-2.0-flash", {"images": 3600, "videos": 1}),
        ("vertex", "gemini-3-pro-image", {"images": 14, "pdf_pages": 1000}),
        ("mistral", "mistral-large-4", {"images": 100}),
        ("groq", "qwen/qwen3.8-27b", {"images": 5, "image_area": 33_177_600, "request_bytes": 4_000_000}),
        ("xai", "grok-4.5", {"image_bytes": 20_971_520}),
        ("deepseek", "deepseek-flash", {"images": 600, "many_images": 14, "request_bytes": 50_331_648}),
        ("vertex", "gemini-3.8-flash", {"images": 3000, "image_bytes": 7_000_000}),
    ],
)
def test_limits_on_files_are_those_of_the_vendors_pages(provider: str, model: str, limits: dict[str, int]):
    found: Any = profile(provider, model).media_limits
    assert limits.items() <= found.items()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_limits_and_rules_name_their_pages_and_a_day(provider: str):
    for model in models(provider):
        found = profile(provider, model)
        if found.media_limits:
            assert found.limits_sources, model
            assert all(page.startswith("https://") for page in found.limits_sources)
            assert (found.limits_checked or "") >= "2026-11-22"
        if found.media_tokens:
            assert found.tokens_source.startswith("https://"), model
            assert (found.tokens_checked or "") >= "2026-11-22"


def test_limits_are_those_of_the_endpoint():
    """The same models elsewhere, by other pages."""
    at_google, at_vertex = (profile(name, "gemini-3.8-flash") for name in ("google", "vertex"))
    assert at_google.media_limits["images"] > at_vertex.media_limits["images"]
    own, on_bedrock = profile("anthropic", "claude-opus-5-5"), profile("bedrock", "anthropic.claude-opus-5-5")
    assert own.media_limits["request_bytes"] > on_bedrock.media_limits["request_bytes"]
    assert own.limits_sources != on_bedrock.limits_sources


def test_limits_are_merged_by_name(tmp_path: Path):
    user = f'[[models]]\nprovider = "{PROVIDER}"\nmodel = "m"\nmedia_limits = {{images = 3}}\n'
    row = {"model": "m", "like": ["t"], "media_limits": {"videos": 1}}
    header: Any = {
        "every": {"media_limits": {"images": 9, "videos": 9}},
        "templates": {"t": {"media_limits": {"images": 7}}},
    }
    catalogue = catalogue_of(tmp_path, row, user=user, **header)
    assert catalogue.profile(PROVIDER, "m").media_limits == {"images": 3, "videos": 1}
    llm = create_llm("openai/gpt-5.4", api_key="key", facts={"media_limits": {"images": 2}})
    assert llm is not None


@pytest.mark.parametrize(
    ("provider", "model", "produces"),
    [
        ("openai", "gpt-audio", {"audio"}),
        ("openai", "gpt-5.4", set()),
        ("google", "gemini-3-pro-image", {"image"}),
        ("vertex", "gemini-2.5-flash-image", {"image"}),
        ("google", "gemini-3.8-flash-tts", {"audio"}),
        ("google", "gemini-3.8-flash", set()),
        ("anthropic", "claude-opus-5-5", set()),
        ("google", "gemini-9-nova", None),
        ("vllm", "qwen-omni", None),
    ],
)
def test_kinds_of_output(provider: str, model: str, produces: set[str] | None):
    assert profile(provider, model).produces == produces
