"""The provider `cohere`. Requests, responses and errors on the wire: `formats/cohere_chat`."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from .vendor_provider import VendorProvider, with_encodable


class CohereProvider(VendorProvider):
    """Cohere's API, version 2."""

    name = "cohere"
    summary = "Cohere, chat"
    model_examples: Mapping[str, str] = {"command": "command-a-03-2025"}
    default_url = "https://api.cohere.com/v2"
    url_variable, url_path = "CO_API_URL", "/v2"
    key_variable, other_key_variables = "CO_API_KEY", ("COHERE_API_KEY",)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.cohere_chat import ENCODABLE, CohereChat

        return ProviderSession(model, CohereChat(model), endpoint, with_encodable(profile, ENCODABLE))
