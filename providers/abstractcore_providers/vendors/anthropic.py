"""The provider `anthropic`. Requests, responses and errors on the wire: `formats/anthropic_messages`."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from .models.family import find_family
from .vendor_provider import VendorProvider


class AnthropicProvider(VendorProvider):
    """Anthropic's Messages API."""

    name = "anthropic"
    summary = "Anthropic, Messages API"
    model_examples: Mapping[str, str] = {"claude": "claude-opus-5-5"}
    default_url = "https://api.anthropic.com/v1"
    url_variable, url_path = "ANTHROPIC_BASE_URL", "/v1"
    key_variable, key_header = "ANTHROPIC_API_KEY", "x-api-key"
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.anthropic_messages import AnthropicMessages, Dialect
        from .models.claude import CLAUDE, UNKNOWN_CLAUDE

        family = find_family(model, CLAUDE, UNKNOWN_CLAUDE)
        return ProviderSession(model, AnthropicMessages(Dialect(**family.profile.settings)), endpoint, family.profile)
