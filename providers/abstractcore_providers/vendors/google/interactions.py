"""The provider `google-interactions`: the Gemini API's Interactions, the successor of generateContent."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession
from abstractcore.schema import EMPTY

from ..vendor_provider import with_encodable
from .provider import GoogleProvider


class GoogleInteractionsProvider(GoogleProvider):
    """The same API and key as `google`, for models that only Interactions offer, and for state on the server."""

    name = "google-interactions"
    summary = "Google's Gemini models through the Interactions API"
    model_examples: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    example_model = "gemini-3.8-flash"

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.gemini import ENCODABLE
        from ...formats.gemini_interactions import GeminiInteractions

        transpiler = GeminiInteractions(self.name)
        return ProviderSession(model.removeprefix("models/"), transpiler, endpoint, with_encodable(profile, ENCODABLE))
