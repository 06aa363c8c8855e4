"""The providers `anthropic` and `bedrock-anthropic`.

Requests, responses and errors on the wire: `formats/anthropic_messages`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.endpoints import setting_names, with_settings
from .vendor_provider import VendorProvider

_VERSION = "2026-10-21"
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_SAMPLING_ENDS = "2026-10-21"
"""The version from which the API refuses these options for every model, at any value
(https://platform.claude.com/docs/en/api/migration-2026-10-21).
"""
API_VERSION_OPTION: Mapping[str, str] = MappingProxyType(
    {
        "api_version": f"the header 'anthropic-version'; by default {_VERSION!r}, or '2023-06-01' for models that "
        "accept a temperature, which newer versions refuse"
    }
)
_DAY = re.compile(r"20\d\d-\d\d-\d\d")


class AnthropicProvider(VendorProvider):
    """Anthropic's Messages API."""

    name = "anthropic"
    summary = "Anthropic, Messages API"
    options: Mapping[str, str] = API_VERSION_OPTION
    model_examples: Mapping[str, str] = {"claude": "claude-opus-5-5"}
    default_url = "https://api.anthropic.com/v1"
    url_variable, url_path = "ANTHROPIC_BASE_URL", "/v1"
    key_variable, key_header = "ANTHROPIC_API_KEY", "x-api-key"

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ..formats.anthropic_messages import MessagesDialect

        return setting_names(MessagesDialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        return claude_session(self.name, model, endpoint, config, profile)


class BedrockAnthropicProvider(AnthropicProvider):
    """The Messages API of Amazon Bedrock (`AnthropicBedrockMantle` in the anthropic package)."""

    name = "bedrock-anthropic"
    summary = "Anthropic's models on Amazon Bedrock, Messages API"
    model_examples: Mapping[str, str] = {"anthropic.claude": "anthropic.claude-opus-5-5"}
    default_url = "https://bedrock-mantle.{AWS_REGION}.api.aws/anthropic/v1"
    url_variable, url_path = "ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "/v1"
    key_variable, key_header = "AWS_BEARER_TOKEN_BEDROCK", None


def claude_session(
    provider: str,
    model: str,
    endpoint: Endpoint,
    config: ProviderConfig,
    profile: ModelProfile,
    *,
    raw_predict: bool = False,
) -> ProviderSession:
    """Returns the session of a provider with the Messages API; with `raw_predict`, of Vertex AI."""
    from ..formats.anthropic_messages import ENCODABLE, AnthropicMessages, MessagesDialect

    thinks = profile.thinking is not None and profile.thinking.on_by_default
    dialect = MessagesDialect(provider, version=_VERSION, thinks_by_default=thinks, raw_predict=raw_predict)
    dialect = with_settings(dialect, profile.settings)
    dialect = replace(dialect, version=_version(config.options.get("api_version") or dialect.version))
    if dialect.version >= _SAMPLING_ENDS:
        profile = replace(profile, refused=profile.refused | _SAMPLING)
    if not profile.known:
        profile = replace(profile, encodable=ENCODABLE)
    return ProviderSession(model, AnthropicMessages(dialect), endpoint, profile)


def _version(version: object) -> str:
    if not isinstance(version, str) or not _DAY.fullmatch(version):
        raise ConfigurationError(
            f"api_version {version!r} is not a version of Anthropic's API.", hint=f"For example: {_VERSION!r}."
        )
    return version
