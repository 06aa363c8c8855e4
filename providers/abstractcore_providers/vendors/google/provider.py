"""The providers of Google's models: the Gemini API with a key, and Vertex AI with a Google Cloud project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from abstractcore.errors import (
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
)
from abstractcore.ports import (
    ProviderConfig,
    ProviderServices,
    ProviderSession,
)
from abstractcore.schema import EMPTY

from ...common.endpoints import FixedEndpoint, HeaderAuth, base_url, check_key, key_auth, key_hint
from ..access_tokens import TokenEndpoint, given_token
from .families import UNKNOWN, family_of

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
_VERTEX_URL = "GOOGLE_VERTEX_BASE_URL"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PLACE = re.compile(r"[a-z0-9][a-z0-9.:-]*")
_MULTI_REGIONS = ("eu", "us")


class GoogleProvider:
    """The Gemini API of Google AI Studio."""

    name = "google"
    summary = "Google's Gemini models, with a key from Google AI Studio"
    model_examples: Mapping[str, str] = {"gemini": "gemini-3.5-flash"}
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        model = _model(config)
        url = base_url(config, services.environment, "GOOGLE_GEMINI_BASE_URL", default=GEMINI_URL, path="/v1beta")
        auth = key_auth(config, services.environment, "GEMINI_API_KEY", "GOOGLE_API_KEY", header="x-goog-api-key")
        endpoint = FixedEndpoint.at(url, auth, GEMINI_URL)
        return _session(model, endpoint, provider=self.name)


class VertexProvider:
    """Google's models in a project of Google Cloud."""

    name = "vertex"
    summary = "Google's Gemini models on Vertex AI, in a Google Cloud project"
    options: Mapping[str, str] = {
        "project": "the Google Cloud project; GOOGLE_CLOUD_PROJECT unless told; not needed with an API key",
        "location": "where the model runs, as europe-west4; GOOGLE_CLOUD_LOCATION unless told, else global",
        "access_token": "a token, or a function that gives one; the credentials of google-auth unless told",
    }

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, or without project and key. No I/O: tokens are
        fetched later.
        """
        model = _model(config)
        token = config.options.get("access_token")
        if config.api_key and token is None and config.options.get("project") is None:
            url = base_url(
                config, services.environment, _VERTEX_URL, default=f"https://{_host('global')}/v1", path="/v1"
            )
            endpoint = FixedEndpoint.at(url, _key(config))
            return _session(model, endpoint, provider=self.name, publisher="google")
        project = _place(config, services, "project", "GOOGLE_CLOUD_PROJECT", "")
        location = _place(config, services, "location", "GOOGLE_CLOUD_LOCATION", "global")
        parent = f"projects/{project}/locations/{location}"
        path = f"/v1/{parent}"
        default = f"https://{_host(location)}{path}"
        url = base_url(config, services.environment, _VERTEX_URL, default=default, path=path)
        if config.api_key and token is None:
            endpoint = FixedEndpoint.at(url, _key(config))
        else:
            source = "access_token=..." if token else "GOOGLE_APPLICATION_CREDENTIALS, or pass access_token=..."
            token = token or _ApplicationCredentials()
            endpoint = TokenEndpoint(url, given_token(token, self.name), self.name, source=source)
        return _session(model, endpoint, provider=self.name, publisher="google", parent=parent)


def _host(location: str) -> str:
    """The server of a region, of several together, or of all."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in _MULTI_REGIONS:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def _key(config: ProviderConfig) -> HeaderAuth:
    return HeaderAuth({"x-goog-api-key": check_key(config.api_key or "", config.provider)}, key_hint(config, ""))


class _ApplicationCredentials:
    """The credentials that google-auth finds on this machine, asked for a new token when the last one ends."""

    def __init__(self) -> None:
        self._credentials: Any = None

    def __call__(self) -> str:
        """A token that is valid now; raises `MissingExtraError` without google-auth."""
        try:
            auth, requests = import_module("google.auth"), import_module("google.auth.transport.requests")
        except ImportError:
            raise MissingExtraError(
                "Vertex AI needs a token.", hint="Pass access_token=..., or `pip install google-auth requests`."
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
                provider="vertex",
            ) from None
        return self._credentials.token


def _model(config: ProviderConfig) -> str:
    if not config.model:
        name = config.provider
        raise ConfigurationError(f"{name!r} needs a model's name.", hint=f"As in create_llm({name!r}, model='...').")
    return config.model.removeprefix("models/")


def _place(config: ProviderConfig, services: ProviderServices, name: str, variable: str, default: str) -> str:
    """A part of the address that may be told in three ways."""
    place = config.options.get(name) or services.environment.get(variable) or default
    if not isinstance(place, str) or not _PLACE.fullmatch(place):
        raise ConfigurationError(
            f"'vertex' needs a {name}, not {place!r}." if place else f"'vertex' needs a {name}.",
            hint=f"Pass {name}=..., or set {variable}.",
        )
    return place


def _session(model: str, endpoint: Any, *, provider: str, publisher: str = "", parent: str = "") -> ProviderSession:
    # Here and not above: listing the providers should not load a wire format.
    from ...formats.gemini import Dialect, Gemini

    family = family_of(model)
    since_3 = family is not None and family.since_3
    dialect = Dialect(
        provider,
        media_in_results=since_3,
        signed_calls=since_3,
        count_wrapped=not publisher,
        publisher=publisher,
        parent=parent,
    )
    profile = family.profile if family is not None else UNKNOWN
    return ProviderSession(model, Gemini(dialect), endpoint, profile)
