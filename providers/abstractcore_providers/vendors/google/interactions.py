"""The provider `google-interactions`: the Gemini API's Interactions, the successor of generateContent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession, Thinking
from abstractcore.schema import EMPTY

from .provider import GoogleProvider

_INSTEAD_OF_BUDGETS = ("low", "medium", "high")


class GoogleInteractionsProvider(GoogleProvider):
    """The same API and key as `google`, for models that only Interactions offer, and for state on the server."""

    name = "google-interactions"
    summary = "Google's Gemini models through the Interactions API"
    model_examples: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    example_model = "gemini-3.8-flash"

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.gemini_interactions import GeminiInteractions
        from ..models.gemini import find_gemini

        model = model.removeprefix("models/")
        return ProviderSession(model, GeminiInteractions(self.name), endpoint, _with_levels(find_gemini(model).profile))


def _with_levels(found: ModelProfile) -> ModelProfile:
    """Returns the profile with levels in place of a thinking budget, which this API does not have."""
    thinking = found.thinking
    if thinking is None or thinking.budget is None:
        return found
    return replace(found, thinking=Thinking(_INSTEAD_OF_BUDGETS, can_be_off=False))
