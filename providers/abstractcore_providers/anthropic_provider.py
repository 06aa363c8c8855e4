"""The provider of Anthropic's models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ModelProfile, Price, ProviderConfig, ProviderServices, ProviderSession, Thinking
from abstractcore.schema import EMPTY, Sampling

from .endpoints import FixedEndpoint, HeaderAuth, check_key, check_url

_URL = "https://api.anthropic.com/v1"
_KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"
_READS = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "image/*", "application/pdf", "text/plain"})
_CACHE_POINTS = 4
_LONG = Sampling(max_output_tokens=32_000)
_SHORT = Sampling(max_output_tokens=8_192)
"""The format demands a limit on the answer: enough for a long one, or what every model can write."""

_ADAPTIVE = Thinking(("low", "medium", "high"))
_ALWAYS = Thinking(("low", "medium", "high"), can_be_off=False)
_BUDGET = Thinking(budget=(1024, 63_999))


@dataclass(frozen=True, slots=True)
class _Family:
    """Models by the beginning of their names. Newer ones take no sampling options; some are not made to call tools."""

    beginning: str
    context_tokens: int
    price: Price | None
    thinking: Thinking
    takes_sampling: bool = False
    tools_forced: bool = True
    system_in_place: bool = False

    @property
    def profile(self) -> ModelProfile:
        return ModelProfile(_READS, self.context_tokens, self.price, _LONG, self.thinking, _CACHE_POINTS)


_MILLION = 1_000_000
_FAMILIES = (
    _Family("claude-fable-5-1", _MILLION, None, _ALWAYS, tools_forced=False),
    _Family("claude-fable-5", _MILLION, None, _ALWAYS),
    _Family("claude-opus-5-5", _MILLION, Price(4, 20, 0.2, 5), _ALWAYS, tools_forced=False),
    _Family("claude-opus-5", _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE),
    _Family("claude-sonnet-5-5", _MILLION, Price(2, 10, 0.1, 2.5), _ALWAYS, tools_forced=False),
    _Family("claude-sonnet-5", _MILLION, Price(2, 10, 0.2, 2.5), _ADAPTIVE),
    _Family("claude-haiku-5-5", _MILLION, None, _ADAPTIVE),
    _Family("claude-opus-4-8", _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, system_in_place=True),
    _Family("claude-opus-4-7", _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE),
    _Family("claude-opus-4-6", _MILLION, Price(5, 25, 0.5, 6.25), _ADAPTIVE, takes_sampling=True),
    _Family("claude-sonnet-4-6", _MILLION, Price(3, 15, 0.3, 3.75), _ADAPTIVE, takes_sampling=True),
    _Family("claude-opus-4-5", 200_000, Price(5, 25, 0.5, 6.25), _BUDGET, takes_sampling=True),
    _Family("claude-sonnet-4-5", 200_000, Price(3, 15, 0.3, 3.75), _BUDGET, takes_sampling=True),
    _Family("claude-haiku-4-5", 200_000, Price(1, 5, 0.1, 1.25), _BUDGET, takes_sampling=True),
)
"""After the pages "Models overview" and "Pricing" and the models' own. Writing to the cache is priced for five minutes.
A model without a price here has several, by the length of the prompt, or one of its own for the cache.
"""

_UNKNOWN = ModelProfile(_READS, sampling=_SHORT, cache_points=_CACHE_POINTS, known=False)


class AnthropicProvider:
    """Anthropic's Messages API."""

    name = "anthropic"
    summary = "Anthropic, Messages API"
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from .anthropic_messages import AnthropicMessages, Dialect

        if not config.model:
            raise ConfigurationError(
                "'anthropic' needs a model's name.", hint="As in create_llm('anthropic', model='claude-opus-5-5')."
            )
        key = check_key(config.api_key or services.environment.get(_KEY_VARIABLE, ""), self.name)
        if not key:
            raise AuthenticationError(
                "no API key.", hint=f"Set {_KEY_VARIABLE}, or pass api_key=...", provider=self.name
            )
        auth = HeaderAuth({"x-api-key": key, "anthropic-version": _VERSION})
        family = next((family for family in _FAMILIES if config.model.startswith(family.beginning)), None)
        dialect = Dialect()
        if family is not None:
            dialect = Dialect(
                system_in_place=family.system_in_place,
                takes_sampling=family.takes_sampling,
                tools_forced=family.tools_forced,
            )
        return ProviderSession(
            model=config.model,
            transpiler=AnthropicMessages(dialect),
            endpoint=FixedEndpoint.at(check_url(config.base_url or _URL), auth),
            profile=family.profile if family is not None else _UNKNOWN,
        )
