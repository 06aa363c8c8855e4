"""Settings of a model that the wire format of its provider does not know: refused, never ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstractcore import ConfigurationError, Services, create_llm
from abstractcore.registry import Registry
from abstractcore_providers.vendors.vendor_provider import VendorProvider

WITH_DIALECTS = {
    "anthropic": "system_in_place",
    "bedrock": "top_k_field",
    "bedrock-anthropic": "system_in_place",
    "google": "signed_calls",
    "openai-responses": "encrypted_reasoning",
    "vertex": "explicit_cache",
    "vertex-anthropic": "system_in_place",
}
NEEDED: dict[str, dict[str, Any]] = {
    "azure": {"base_url": "https://example.openai.azure.com"},
    "bedrock": {"region": "us-east-1"},
    "bedrock-openai": {"base_url": "http://localhost:8000/v1"},
    "bedrock-anthropic": {"base_url": "http://localhost:8000/v1"},
    "vertex-anthropic": {"project": "p"},
    "vertex-openai": {"project": "p"},
    "cloudflare": {"base_url": "http://localhost:8000/v1"},
    "databricks": {"base_url": "http://localhost:8000/v1"},
    "openai-compatible": {"base_url": "http://localhost:8000/v1"},
    "local": {"api_key": None},
}
PROVIDERS = [name for name in Registry.from_entry_points().providers if name != "scripted"]


def connect(provider: str, **settings: Any) -> Any:
    options = {"api_key": "k", "facts": {"settings": settings}, **NEEDED.get(provider, {})}
    return create_llm(provider, model="any", **options)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_unknown_setting_is_refused_by_every_provider(provider: str):
    with pytest.raises(
        ConfigurationError, match=rf"settings\.odd: no such setting in the wire format of '{provider}'"
    ) as caught:
        connect(provider, odd=True)
    hint = caught.value.hint or ""
    assert ("It has no settings" in hint) == (provider not in WITH_DIALECTS)


@pytest.mark.parametrize(("provider", "name"), WITH_DIALECTS.items())
def test_nearest_name_is_suggested(provider: str, name: str):
    with pytest.raises(ConfigurationError) as caught:
        connect(provider, **{name[:-1]: True})
    assert f"Did you mean {name!r}?" in (caught.value.hint or "")


def test_every_format_with_settings_is_tested():
    found = Registry.from_entry_points().providers.values()
    named = {each.name for each in found if isinstance(each, VendorProvider) and each.setting_names()}
    assert named == WITH_DIALECTS.keys()


def test_row_of_the_user_with_an_unknown_setting_is_refused(tmp_path: Path):
    path = tmp_path / "models.toml"
    path.write_text('[[models]]\nprovider = "ollama"\nmodel = "m"\nsettings.signed_calls = true\n', encoding="utf-8")
    services = Services(environment={"ABSTRACTCORE_MODELS": str(path)})
    with pytest.raises(ConfigurationError, match=r"settings\.signed_calls: no such setting .* 'ollama'"):
        create_llm("ollama", model="m", services=services)
    create_llm("ollama", model="other", services=services).close()
    services.close()
