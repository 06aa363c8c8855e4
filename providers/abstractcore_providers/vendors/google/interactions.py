"""The provider `google-interactions`: the Gemini API's Interactions, the successor of generateContent."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.errors import InvalidInputError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession
from abstractcore.schema import EMPTY, Lowered, ModelCall

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

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.gemini import ENCODABLE
        from ...formats.gemini_interactions import GeminiInteractions

        model, transpiler = model.removeprefix("models/"), GeminiInteractions(self.name)
        lower = _lower_for_agents if model.startswith(_AGENTS) else Lowered
        return ProviderSession(model, transpiler, endpoint, with_encodable(profile, ENCODABLE), lower)


def _lower_for_agents(call: ModelCall) -> Lowered:
    """Returns the call with the options of an agent.

    Raises `InvalidInputError` for a call of one that works in the background, if it is not streamed.
    """
    works_in_background = call.model.startswith(_IN_BACKGROUND)
    if works_in_background and not call.stream:
        reason = f"{call.model} works in the background and returns no whole reply"
        raise InvalidInputError(reason, path="stream", hint="Stream the answer: llm.stream(...).")
    given = call.provider_options.get(call.provider, {})
    options = {"agent": True, **({"background": True} if works_in_background else {}), **given}
    return Lowered(call.with_(provider_options={**call.provider_options, call.provider: options}))
