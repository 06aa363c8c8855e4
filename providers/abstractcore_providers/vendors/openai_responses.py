"""The provider of OpenAI's models through its Responses API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from abstractcore.errors import ConfigurationError
from abstractcore.ports import ModelProfile, ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema import EMPTY

from ..common.endpoints import FixedEndpoint, base_url, key_auth
from ..common.media_types import OPENAI_IMAGES, with_images
from . import rule_tables
from .families import OPENAI
from .model_rules import rules_in

_URL = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_CARRIED = OPENAI_IMAGES | {"application/pdf"}
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_FIRST_WITH_POINTS = (5, 6)
_MOST_POINTS = 4
_WITHOUT_REASONING = ("chatgpt-", "gpt-3.5", "gpt-4", "gpt-5-chat")
"""Models that refuse to be asked for encrypted reasoning."""


class OpenAIResponsesProvider:
    """OpenAI's Responses API, which replays reasoning and runs tools of its own."""

    name = "openai-responses"
    summary = "OpenAI, responses"
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from ..formats.openai_responses import OpenAIResponses

        if not config.model:
            raise ConfigurationError(
                f"{self.name!r} needs a model's name.", hint=f"As in create_llm({self.name!r}, model='gpt-5.4')."
            )
        url = base_url(config, services.environment, "OPENAI_BASE_URL", default=_URL)
        return ProviderSession(
            model=config.model,
            transpiler=OpenAIResponses(self.name, not config.model.startswith(_WITHOUT_REASONING)),
            endpoint=FixedEndpoint.at(url, key_auth(config, services.environment, _KEY), _URL),
            profile=_profile(config.model),
            lower=rules_in(rule_tables.OPENAI, config.model).lower_for_responses,
        )


def _profile(model: str) -> ModelProfile:
    """What is known of OpenAI's models, with the cache points that this format has for newer ones, and no audio."""
    known = next((profile for beginning, profile in OPENAI if model.startswith(beginning)), None)
    points = _MOST_POINTS if _takes_points(model) else 0
    if known is None:
        return ModelProfile(assumed=_CARRIED, carried=_CARRIED, cache_points=points, known=False)
    return replace(known, accepts=with_images(known.accepts, OPENAI_IMAGES) & _CARRIED, cache_points=points)


def _takes_points(model: str) -> bool:
    """Whether it is GPT-5.6 or later (API reference, `PromptCacheOptionsParam`)."""
    version = _VERSION.match(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST_WITH_POINTS
