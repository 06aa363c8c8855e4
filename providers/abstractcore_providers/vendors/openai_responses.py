"""The provider `openai-responses`. Requests, responses and errors on the wire: `formats/openai_responses`."""

from __future__ import annotations

import re
from dataclasses import replace

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.media_types import OPENAI_IMAGES, with_images
from .models.family import find_family
from .models.openai import OPENAI
from .vendor_provider import VendorProvider

_ENCODABLE = OPENAI_IMAGES | {"application/pdf"}
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_FIRST_WITH_CACHE_POINTS = (5, 6)
_MAX_CACHE_POINTS = 4


class OpenAIResponsesProvider(VendorProvider):
    """OpenAI's Responses API, which replays reasoning and runs tools of its own."""

    name = "openai-responses"
    summary = "OpenAI, responses"
    example_model = "gpt-5.4"
    default_url = "https://api.openai.com/v1"
    url_variable, key_variable = "OPENAI_BASE_URL", "OPENAI_API_KEY"

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.openai_responses import OpenAIResponses

        profile = _profile(model, find_family(model, OPENAI).profile)
        return ProviderSession(model, OpenAIResponses(self.name, **profile.settings), endpoint, profile)


def _profile(model: str, found: ModelProfile) -> ModelProfile:
    """Returns the family's profile without audio, and with the cache points that newer models have in this API."""
    cache_points = _MAX_CACHE_POINTS if _has_cache_points(model) else 0
    found = replace(found, tools=None, tools_provider=None, cache_points=cache_points)
    if not found.known:
        return replace(found, assumed=_ENCODABLE, encodable=_ENCODABLE)
    return replace(found, accepts=with_images(found.accepts, OPENAI_IMAGES) & _ENCODABLE)


def _has_cache_points(model: str) -> bool:
    """Returns whether it is GPT-5.6 or later (API reference, `PromptCacheOptionsParam`)."""
    version = _VERSION.match(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST_WITH_CACHE_POINTS
