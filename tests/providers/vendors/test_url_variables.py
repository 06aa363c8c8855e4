"""The hint of an address that cannot be reached names the variable that the address came from."""

from __future__ import annotations

import pytest

from abstractcore.ports import ProviderConfig
from abstractcore.registry import Registry
from abstractcore.transport.failures import cannot_connect, connect_timeout
from abstractcore_providers.vendors.vendor_provider import VendorProvider

URL = "https://wrong.example/v1"
PROVIDERS = {
    name: provider
    for name, provider in Registry.from_entry_points().providers.items()
    if isinstance(provider, VendorProvider) and provider.url_variable
}
REASONS = ["Connection refused", "Name or service not known"]


def hint_of(name: str, reason: str, *, base_url: str | None = None) -> str | None:
    provider = PROVIDERS[name]
    config = ProviderConfig(name, "any", base_url, "a-key", {})
    endpoint = provider.endpoint(config, {provider.url_variable: URL})
    return endpoint.diagnose(cannot_connect(URL, reason, None)).hint


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_hint_for_an_unreachable_address_names_its_variable(name: str, reason: str) -> None:
    hint = hint_of(name, reason) or ""
    assert f"{PROVIDERS[name].url_variable}." in hint or f"{PROVIDERS[name].url_variable} is" in hint
    assert "base_url" not in hint


@pytest.mark.parametrize("reason", REASONS)
def test_address_of_the_call_is_that_of_base_url(reason: str) -> None:
    hint = hint_of("openai", reason, base_url=URL) or ""
    assert ("base_url" in hint, "OPENAI_BASE_URL" in hint) == (True, False)


def test_hint_of_a_connection_that_takes_too_long_names_the_variable() -> None:
    endpoint = PROVIDERS["openai"].endpoint(
        ProviderConfig("openai", "any", None, "a-key", {}), {"OPENAI_BASE_URL": URL}
    )
    hint = endpoint.diagnose(connect_timeout(URL, 20.0, None)).hint
    assert hint == "Check that OPENAI_BASE_URL is correct and reachable."
