"""The provider of Cohere's models."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.errors import ConfigurationError
from abstractcore.ports import ModelProfile, ProviderConfig, ProviderServices, ProviderSession, Thinking
from abstractcore.schema import EMPTY

from ..common.endpoints import FixedEndpoint, base_url, key_auth
from ..common.media_types import COHERE_IMAGES

_URL = "https://api.cohere.com/v2"
_KEYS = ("CO_API_KEY", "COHERE_API_KEY")
_TEXT = frozenset[str]()
_SEES = COHERE_IMAGES
_FAMILIES: tuple[tuple[str, ModelProfile], ...] = tuple(
    (beginning, ModelProfile(accepts, context, thinking=thinking, cache_points=0, media_beside_results=True))
    for beginning, accepts, context, thinking in (
        ("command-a-reasoning", _TEXT, 256_000, Thinking(budget=(1, 31_000))),
        ("command-a-vision", _SEES, 128_000, Thinking()),
        ("command-a-03-2025", _TEXT, 256_000, Thinking()),
        ("command-r", _TEXT, 128_000, Thinking()),
    )
)
"""Beginnings of names, each with what those models take (docs.cohere.com/docs, the page of each model)."""


class CohereProvider:
    """Cohere's API, version 2."""

    name = "cohere"
    summary = "Cohere, chat"
    model_examples: Mapping[str, str] = {"command": "command-a-03-2025"}
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from ..formats.cohere_chat import CohereChat

        if not config.model:
            raise ConfigurationError(
                "'cohere' needs a model's name.", hint="As in create_llm('cohere', model='command-a-03-2025')."
            )
        url = base_url(config, services.environment, "CO_API_URL", default=_URL, path="/v2")
        return ProviderSession(
            model=config.model,
            transpiler=CohereChat(config.model),
            endpoint=FixedEndpoint.at(url, key_auth(config, services.environment, *_KEYS), _URL),
            profile=_profile(config.model),
        )


def _profile(model: str) -> ModelProfile:
    known = (profile for beginning, profile in _FAMILIES if model.startswith(beginning))
    unknown = ModelProfile(assumed=_SEES, carried=_SEES, cache_points=0, media_beside_results=True, known=False)
    return next(known, unknown)
