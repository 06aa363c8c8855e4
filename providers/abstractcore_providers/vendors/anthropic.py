"""The provider `anthropic`. Requests, responses and errors on the wire: `formats/anthropic_messages`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.model_settings import setting_names, with_settings
from .vendor_provider import VendorProvider

_VERSION = "2026-10-21"
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_SAMPLING_ENDS = "2026-10-21"
"""The version from which the API refuses these options for every model, at any value
(https://platform.claude.com/docs/en/api/migration-2026-10-21).
"""
_DAY = re.compile(r"20\d\d-\d\d-\d\d")


class AnthropicProvider(VendorProvider):
    """Anthropic's Messages API."""

    name = "anthropic"
    summary = "Anthropic, Messages API"
    options: Mapping[str, str] = MappingProxyType(
        {
            "api_version": f"the header 'anthropic-version'; by default {_VERSION!r}, or '2023-06-01' for models that "
            "accept a temperature, which newer versions refuse"
        }
    )
    model_examples: Mapping[str, str] = {"claude": "claude-opus-5-5"}
    default_url = "https://api.anthropic.com/v1"
    url_variable, url_path = "ANTHROPIC_BASE_URL", "/v1"
    key_variable, key_header = "ANTHROPIC_API_KEY", "x-api-key"

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ..formats.anthropic_messages import Dialect

        return setting_names(Dialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.anthropic_messages import ENCODABLE, AnthropicMessages, Dialect

        thinks = profile.thinking is not None and profile.thinking.on_by_default
        dialect = with_settings(Dialect(version=_VERSION, thinks_by_default=thinks), profile.settings)
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
