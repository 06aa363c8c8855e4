"""The provider of Anthropic's models."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.errors import ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema import EMPTY

from ..common.endpoints import FixedEndpoint, base_url, key_auth
from .claude_families import profile_of, rules_of

_URL = "https://api.anthropic.com/v1"
_KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"


class AnthropicProvider:
    """Anthropic's Messages API."""

    name = "anthropic"
    summary = "Anthropic, Messages API"
    model_examples: Mapping[str, str] = {"claude": "claude-opus-5-5"}
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from ..formats.anthropic_messages import AnthropicMessages, Dialect

        if not config.model:
            raise ConfigurationError(
                "'anthropic' needs a model's name.", hint="As in create_llm('anthropic', model='claude-opus-5-5')."
            )
        url = base_url(config, services.environment, "ANTHROPIC_BASE_URL", default=_URL, path="/v1")
        more = {"anthropic-version": _VERSION}
        auth = key_auth(config, services.environment, _KEY_VARIABLE, header="x-api-key", more=more)
        rules = rules_of(config.model)
        return ProviderSession(
            model=config.model,
            transpiler=AnthropicMessages(Dialect(system_in_place=rules.system_in_place, off=rules.off)),
            endpoint=FixedEndpoint.at(url, auth, _URL),
            profile=profile_of(config.model),
            lower=rules.lower,
        )
