"""The provider `azure`: OpenAI's models by resource or endpoint, in the v1 API or the older one by deployment.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, ProviderConfig

from ..common.endpoints import FixedEndpoint, base_url, check_url, key_auth
from .presets import Preset

if TYPE_CHECKING:
    from .access_tokens import Token

_V1 = "/openai/v1"
_V1_VERSIONS = ("v1", "preview", "latest")
"""Versions of the newer API, which has the model in the body only (learn.microsoft.com/azure/ai-foundry/openai/
api-version-lifecycle). Any other is a date, and its URLs name the deployment."""
_RESOURCE = re.compile("[a-zA-Z0-9-]+")
_VERSION = re.compile("[A-Za-z0-9.-]+")
_TOKEN_VARIABLE = "AZURE_OPENAI_AD_TOKEN"
_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "resource": "the name of the resource, the first part of its hostname",
        "azure_endpoint": "the endpoint of the resource, such as https://my-resource.openai.azure.com; "
        "AZURE_OPENAI_ENDPOINT by default",
        "api_version": "the API version, such as 2024-10-21, for URLs with the deployment; "
        "OPENAI_API_VERSION by default, else the v1 API",
        "access_token": "a token of Microsoft Entra ID, or a function that returns one, called before each attempt; "
        f"{_TOKEN_VARIABLE} by default",
    }
)


@dataclass(frozen=True, slots=True)
class AzurePreset(Preset):
    """Authenticates with a key in the header `api-key`, or with an access token. Addresses and environment variables
    are those of the openai package's client for Azure.
    """

    options = _OPTIONS

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """Returns the resource's address; raises `ConfigurationError` without a resource, `AuthenticationError`
        without a key or token.
        """
        version = _version(config, environment)
        url, query = _url(config, environment, version), f"api-version={version}" if version else ""
        token = _token(config, environment)
        if token is not None:
            from .access_tokens import TokenEndpoint

            source = "access_token=..." if config.options.get("access_token") else _TOKEN_VARIABLE
            return TokenEndpoint(url, token, self.name, query, source)
        auth = key_auth(config, environment, self.key_variable, header="api-key", instead="access_token")
        return FixedEndpoint.at(url, auth, "" if query else _V1, query=query)


def _version(config: ProviderConfig, environment: Mapping[str, str]) -> str | None:
    """Returns the version of the API; that of the environment does not apply to a `base_url`."""
    version = config.options.get("api_version") or (not config.base_url and environment.get("OPENAI_API_VERSION"))
    if not version:
        return None
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise ConfigurationError(
            "api_version is not a version of the API: expected a date, or 'v1'.",
            hint="For example: api_version='2024-10-21'.",
        )
    return version


def _url(config: ProviderConfig, environment: Mapping[str, str], version: str | None) -> str:
    """Returns the URL to which the paths of operations are appended."""
    dated = version is not None and version not in _V1_VERSIONS
    url = "" if _names_resource(config, environment) else base_url(config, environment) or ""
    if not urlsplit(url.removesuffix("/openai")).path:
        resource = url.removesuffix("/openai") or _resource_url(config, environment)
        url = f"{resource}{'/openai' if dated else _V1}"
    path = urlsplit(url).path
    if not dated or "/deployments" in path or path.endswith("/v1"):
        return url
    return f"{url}/deployments/{quote(config.model or '', safe='')}"


def _names_resource(config: ProviderConfig, environment: Mapping[str, str]) -> bool:
    """Whether a resource is named, other than by a `base_url`: then the configuration's URL does not apply."""
    given = any(config.options.get(name) is not None for name in ("resource", "azure_endpoint"))
    return not config.base_url and (given or bool(environment.get("AZURE_OPENAI_ENDPOINT", "").strip()))


def _resource_url(config: ProviderConfig, environment: Mapping[str, str]) -> str:
    resource, given = config.options.get("resource"), config.options.get("azure_endpoint")
    source, found = "azure_endpoint", given
    if given is None and resource is None:
        source, found = "AZURE_OPENAI_ENDPOINT", environment.get("AZURE_OPENAI_ENDPOINT", "").strip()
    if found:
        url = check_url(found, source).rstrip("/")
        return url.removesuffix(_V1).removesuffix("/openai")
    if not isinstance(resource, str) or not _RESOURCE.fullmatch(resource):
        raise ConfigurationError(
            "'azure' needs the name of a resource, or its endpoint.",
            hint="For example: resource='my-resource', for https://my-resource.openai.azure.com, or azure_endpoint=...",
        )
    return f"https://{resource}.openai.azure.com"


def _token(config: ProviderConfig, environment: Mapping[str, str]) -> Token | None:
    """Returns the token of the option, else of the environment if there is no `api_key`."""
    given = config.options.get("access_token")
    if given is not None and config.api_key:
        raise ConfigurationError("'azure' accepts api_key or access_token, not both.", hint="Remove one of them.")
    token = given or (not config.api_key and environment.get(_TOKEN_VARIABLE))
    if not token:
        return None
    from .access_tokens import check_token

    return check_token(token, config.provider)
