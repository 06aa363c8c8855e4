"""The provider `google-interactions`: the Gemini API's Interactions, the successor of generateContent."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession
from abstractcore.schema import EMPTY, JSONObject

from ..vendor_provider import with_encodable
from .provider import GoogleProvider

_AGENTS = ("deep-research-", "antigravity-")
"""`AgentOption` in the google-genai package."""
_IN_BACKGROUND = "deep-research-"
"""ai.google.dev/gemini-api/docs/deep-research."""


class GoogleInteractionsProvider(GoogleProvider):
    """The same API and key as `google`, for models that only Interactions offer, and for state on the server."""

    name = "google-interactions"
    summary = "Google's Gemini models through the Interactions API"
    model_examples: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    example_model = "gemini-3.8-flash"

    def setting_names(self) -> frozenset[str]:
        """Returns none: the format has no dialects."""
        return frozenset()

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.gemini_interactions import ENCODABLE, GeminiInteractions

        model = model.removeprefix("models/")
        transpiler = GeminiInteractions(self.name, _agent_options(model))
        return ProviderSession(model, transpiler, endpoint, with_encodable(profile, ENCODABLE))


def _agent_options(model: str) -> JSONObject:
    """Returns the options of all calls of an agent: empty for a model."""
    if not model.startswith(_AGENTS):
        return EMPTY
    return {"agent": True, "background": True} if model.startswith(_IN_BACKGROUND) else {"agent": True}
