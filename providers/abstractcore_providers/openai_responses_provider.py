"""The provider of OpenAI's models through its Responses API."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ModelProfile, ProviderConfig, ProviderServices, ProviderSession, Thinking
from abstractcore.schema import EMPTY

from .endpoints import BearerAuth, FixedEndpoint, check_key, check_url

_URL = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_TEXT = frozenset[str]()
_SEES = frozenset({"image", "application/pdf"})
_EVERY_LEVEL = Thinking(("minimal", "low", "medium", "high"), can_be_off=False)
_OR_OFF = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_MOST_POINTS = 4
_FAMILIES: tuple[tuple[str, ModelProfile], ...] = tuple(
    (beginning, ModelProfile(accepts, thinking=thinking, cache_points=points))
    for beginning, accepts, thinking, points in (
        ("gpt-3.5", _TEXT, Thinking(), 0),
        ("gpt-4-turbo", frozenset({"image"}), Thinking(), 0),
        ("gpt-4.1", _SEES, Thinking(), 0),
        ("gpt-4o", _SEES, Thinking(), 0),
        ("gpt-4", _TEXT, Thinking(), 0),
        ("gpt-5-chat", _SEES, Thinking(), 0),
        ("gpt-5-pro", _SEES, Thinking(("high",), can_be_off=False), 0),
        ("gpt-5.1", _SEES, _OR_OFF, 0),
        ("gpt-5.2", _SEES, _OR_OFF, 0),
        ("gpt-5.3", _SEES, _OR_OFF, 0),
        ("gpt-5.4", _SEES, _OR_OFF, 0),
        ("gpt-5.5", _SEES, _OR_OFF, 0),
        ("gpt-5.", _SEES, _OR_OFF, _MOST_POINTS),
        ("gpt-5", _SEES, _EVERY_LEVEL, 0),
        ("o3-mini", _TEXT, _ALWAYS, 0),
        ("o1", _SEES, _ALWAYS, 0),
        ("o3", _SEES, _ALWAYS, 0),
        ("o4-mini", _SEES, _ALWAYS, 0),
    )
)
"""Beginnings of names, each with what those models take (developers.openai.com/api/docs: "Models", "Reasoning",
"Prompt caching"). Cache points are for GPT-5.6 and later."""


class OpenAIResponsesProvider:
    """OpenAI's Responses API, which replays reasoning and runs tools of its own."""

    name = "openai-responses"
    summary = "OpenAI, responses"
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from .openai_responses import OpenAIResponses

        if not config.model:
            raise ConfigurationError(
                f"{self.name!r} needs a model's name.", hint=f"As in create_llm({self.name!r}, model='gpt-5.4')."
            )
        key = check_key(config.api_key or services.environment.get(_KEY, ""), self.name)
        if not key:
            raise AuthenticationError("no API key.", hint=f"Set {_KEY}, or pass api_key=...", provider=self.name)
        return ProviderSession(
            model=config.model,
            transpiler=OpenAIResponses(self.name),
            endpoint=FixedEndpoint.at(check_url(config.base_url or _URL), BearerAuth(key)),
            profile=_profile(config.model),
        )


def _profile(model: str) -> ModelProfile:
    known = (profile for beginning, profile in _FAMILIES if model.startswith(beginning))
    return next(known, ModelProfile(known=False))
