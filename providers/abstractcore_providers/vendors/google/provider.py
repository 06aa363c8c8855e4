"""The providers `google` (the Gemini API, with a key) and `vertex` (Vertex AI, in a Google Cloud project)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from abstractcore.errors import AuthenticationError, ConfigurationError, MissingExtraError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema.base_error import install_hint

from ...common.endpoints import (
    FixedEndpoint,
    HeaderAuth,
    base_url,
    check_key,
    key_hint,
    setting_names,
    url_variable,
    with_settings,
)
from ..vendor_provider import VendorProvider, with_encodable

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
_URL_VARIABLE = "GOOGLE_VERTEX_BASE_URL"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_VALID_SETTING = re.compile(r"[a-z0-9][a-z0-9.:-]*")
_MULTI_REGIONS = ("eu", "us")


class GoogleProvider(VendorProvider):
    """The Gemini API of Google AI Studio."""

    name = "google"
    summary = "Google's Gemini models, with a key from Google AI Studio"
    model_examples: Mapping[str, str] = {"gemini": "gemini-3.8-flash"}
    default_url = GEMINI_URL
    url_variable, url_path = "GOOGLE_GEMINI_BASE_URL", "/v1beta"
    key_variable, other_key_variables = "GEMINI_API_KEY", ("GOOGLE_API_KEY",)
    key_header = "x-goog-api-key"

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ...formats.gemini import GenerateContentDialect

        return setting_names(GenerateContentDialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        return _session(model, endpoint, profile, self.name)


class VertexProvider(VendorProvider):
    """Google's models in a project of Google Cloud.

    `version` of the API is that in which a response that was cut off can be continued (`continuationToken`), and
    google-genai's own. `path` is what an API has after the location. With `needs_project`, a key is not enough.
    """

    name = "vertex"
    default_url = None
    summary = "Google's Gemini models on Vertex AI, in a Google Cloud project"
    example_model = "gemini-3.8-flash"
    version, path = "/v1beta1", ""
    needs_project = False
    options: Mapping[str, str] = {
        "project": "the Google Cloud project; GOOGLE_CLOUD_PROJECT by default; not needed with an API key",
        "location": "where the model runs, such as europe-west4; GOOGLE_CLOUD_LOCATION by default, else global",
        "access_token": "a token, or a function that returns one; by default the credentials that google-auth finds",
    }

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """The same as `VendorProvider.connect`; raises `ConfigurationError` also without a project and a key."""
        self.model_name(config)
        return super().connect(self._located(config, services.environment), services)

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """Returns the location's address, with a key or an access token, which is requested before every attempt."""
        parent, token = _parent(config), config.options.get("access_token")
        path = f"{self.version}/{parent}{self.path}" if parent else f"{self.version}{self.path}"
        host = _host(config.options["location"] if parent else "global")
        has_parent = "/projects/" in (config.base_url or "")
        appended = "" if has_parent else path
        url = base_url(config, environment, _URL_VARIABLE, default=f"https://{host}{path}", path=appended)
        if config.api_key and token is None:
            key = check_key(config.api_key, self.name)
            auth = HeaderAuth({"x-goog-api-key": key}, key_hint(config, ""))
            return FixedEndpoint.at(url, auth, variable=url_variable(config, environment, _URL_VARIABLE))
        from ..access_tokens import TokenEndpoint, check_token

        source = "access_token=..." if token else "GOOGLE_APPLICATION_CREDENTIALS, or pass access_token=..."
        credentials = check_token(token or _ApplicationCredentials(self.name), self.name)
        return TokenEndpoint(url, credentials, self.name, source=source)

    def _located(self, config: ProviderConfig, environment: Mapping[str, str]) -> ProviderConfig:
        """Returns the settings with project and location, unless an API key is used without a project."""
        options = config.options
        has_key = config.api_key and options.get("access_token") is None and options.get("project") is None
        if has_key and not self.needs_project:
            return config
        project = _setting(config, environment, "project", "GOOGLE_CLOUD_PROJECT", "")
        location = _setting(config, environment, "location", "GOOGLE_CLOUD_LOCATION", "global")
        return replace(config, options={**options, "project": project, "location": location})

    def region(self, model: str, endpoint: Endpoint, config: ProviderConfig) -> str | None:
        """Returns the location."""
        return config.options["location"] if _parent(config) else None

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ...formats.gemini import GenerateContentDialect

        return setting_names(GenerateContentDialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        return _session(model, endpoint, profile, self.name, "google", _parent(config))


def _parent(config: ProviderConfig) -> str:
    """Returns the prefix of resource names; empty without a project."""
    project = config.options.get("project")
    return f"projects/{project}/locations/{config.options['location']}" if project else ""


def _host(location: str) -> str:
    """Returns the host of a region, a multi-region or the global endpoint."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


class _ApplicationCredentials:
    """The Application Default Credentials of google-auth, refreshed when a token expires."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._credentials: Any = None

    def __call__(self) -> str:
        """Returns a valid token; raises `MissingExtraError` without google-auth."""
        try:
            auth, requests = import_module("google.auth"), import_module("google.auth.transport.requests")
        except ImportError:
            raise MissingExtraError(
                "Vertex AI needs an access token.",
                hint=f"Pass access_token=..., or: {install_hint('google-auth', 'requests')}",
            ) from None
        try:
            if self._credentials is None:
                self._credentials = auth.default(scopes=[_SCOPE])[0]
            if not self._credentials.valid:
                self._credentials.refresh(requests.Request())
        except auth.exceptions.GoogleAuthError as error:
            raise AuthenticationError(
                f"google-auth has no credentials: {type(error).__name__}.",
                hint="Run `gcloud auth application-default login`, or pass access_token=...",
                provider=self._provider,
            ) from None
        return self._credentials.token


def _setting(config: ProviderConfig, environment: Mapping[str, str], name: str, variable: str, default: str) -> str:
    """Returns a part of the address: the option, else the environment variable, else the default."""
    value = config.options.get(name) or environment.get(variable) or default
    if not isinstance(value, str) or not _VALID_SETTING.fullmatch(value):
        raise ConfigurationError(
            f"{config.provider!r} needs a {name}, not {value!r}." if value else f"{config.provider!r} needs a {name}.",
            hint=f"Pass {name}=..., or set {variable}.",
        )
    return value


def _session(
    model: str, endpoint: Endpoint, profile: ModelProfile, provider: str, publisher: str = "", parent: str = ""
) -> ProviderSession:
    from ...formats.gemini import ENCODABLE, Gemini, GenerateContentDialect
    from ...formats.gemini.vocabulary import GEMINI_API, VERTEX

    billing = VERTEX if publisher else GEMINI_API
    dialect = GenerateContentDialect(
        provider, count_wrapped=not publisher, publisher=publisher, parent=parent, billing=billing
    )
    transpiler = Gemini(with_settings(dialect, profile.settings))
    return ProviderSession(model.removeprefix("models/"), transpiler, endpoint, with_encodable(profile, ENCODABLE))
