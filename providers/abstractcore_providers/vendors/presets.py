"""A vendor that speaks the chat completions format, as a row of data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderServices, ProviderSession

from ..common.endpoints import FixedEndpoint, base_url, key_auth
from ..common.media_types import with_images
from ..formats.openai_chat import CARRIED, Dialect, OpenAIChat
from .model_rules import ModelTable, rules_in

Families: TypeAlias = "tuple[tuple[str, ModelProfile], ...]"
"""Beginnings of models' names, each with what those models can do; the first that fits counts."""

_USUAL_URL = "http://localhost:8000/v1"
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Preset:
    """An OpenAI-compatible vendor.

    `default_url` None means that the user gives `base_url`. `url_variable` is what the vendor's own client reads it
    from, `url_path` what that client puts behind it. A key is needed where `key_variable` is named and `key_needed` is
    left on; it is a bearer's.
    `accepts_prefill` and `media_beside_results` are those of every model's profile. `assumed` are the files that a
    model of no known family is sent as they are, `images` those that count as "image", whichever the model; with
    `names_are_free` a model's name says nothing, and that is nothing to warn of. `model_examples` are beginnings of
    names by which its models are told from those of others, each with an example. `rules` say what single models
    refuse.
    """

    name: str
    summary: str
    default_url: str | None
    key_variable: str
    key_needed: bool = True
    url_variable: str = ""
    url_path: str = ""
    dialect: Dialect = field(default_factory=Dialect)
    families: Families = ()
    assumed: frozenset[str] = frozenset({"image"})
    images: frozenset[str] = frozenset({"image"})
    names_are_free: bool = False
    model_examples: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    accepts_prefill: bool = True
    media_beside_results: bool = True
    rules: ModelTable = ()

    @property
    def options(self) -> Mapping[str, str]:
        """No options beyond those of every provider."""
        return _NO_OPTIONS

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model or an address, `AuthenticationError` without a key."""
        if not config.model:
            raise ConfigurationError(
                f"{self.name!r} needs a model's name.", hint=f"As in create_llm({self.name!r}, model='...')."
            )
        return ProviderSession(
            model=config.model,
            transpiler=OpenAIChat(self.dialect),
            endpoint=self.endpoint(config, services.environment),
            profile=self._profile(config.model),
            lower=rules_in(self.rules, config.model).lower_for_chat,
        )

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """Where the vendor is asked, and how it knows who asks."""
        url = base_url(config, environment, self.url_variable, default=self.default_url, path=self.url_path)
        if url is None:
            raise ConfigurationError(f"{self.name!r} needs an address.", hint=f"As in base_url={_USUAL_URL!r}.")
        auth = key_auth(config, environment, self.key_variable, needed=self.key_needed)
        return FixedEndpoint.at(url, auth, self.default_url or _USUAL_URL)

    def _profile(self, model: str) -> ModelProfile:
        """Where nothing is known of the model, what the format can carry still is, and that it has no cache points."""
        unknown = ModelProfile(assumed=self.assumed, carried=CARRIED, cache_points=0, known=self.names_are_free)
        found = next((profile for beginning, profile in self.families if model.startswith(beginning)), unknown)
        return replace(
            found,
            accepts=with_images(found.accepts, self.images),
            assumed=with_images(found.assumed, self.images),
            carried=with_images(found.carried, self.images),
            accepts_prefill=self.accepts_prefill,
            media_beside_results=self.media_beside_results,
        )
