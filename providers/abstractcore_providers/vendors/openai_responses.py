"""The provider `openai-responses`. Requests, responses and errors on the wire: `formats/openai_responses`."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.endpoints import setting_names, with_settings
from .vendor_provider import VendorProvider

_ENCODABLE = frozenset({"image", "application/pdf"})


class OpenAIResponsesProvider(VendorProvider):
    """OpenAI's Responses API, which replays reasoning and runs tools of its own."""

    name = "openai-responses"
    summary = "OpenAI, responses"
    example_model = "gpt-5.4"
    default_url = "https://api.openai.com/v1"
    url_variable, key_variable = "OPENAI_BASE_URL", "OPENAI_API_KEY"

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the wire format."""
        from ..formats.openai_responses import OpenAIResponses

        return setting_names(OpenAIResponses)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.openai_responses import OpenAIResponses

        if not (profile.known or profile.encodable):
            profile = replace(profile, encodable=_ENCODABLE)
        transpiler = with_settings(OpenAIResponses(self.name), profile.settings)
        return ProviderSession(model, transpiler, endpoint, profile)
