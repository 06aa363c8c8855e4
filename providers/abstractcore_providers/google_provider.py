"""The providers of Google's models: the Gemini API with a key, and Vertex AI with a Google Cloud project."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from abstractcore.errors import (
    AbstractCoreError,
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
    ProviderError,
)
from abstractcore.ports import (
    Address,
    ModelProfile,
    Price,
    ProviderConfig,
    ProviderServices,
    ProviderSession,
    Runtime,
    Thinking,
)
from abstractcore.schema import EMPTY

from .endpoints import BearerAuth, FixedEndpoint, HeaderAuth, check_key, check_url

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PLACE = re.compile(r"[a-z0-9][a-z0-9.:-]*")
_SEES_AND_HEARS = frozenset({"image", "audio", "video", "application/pdf"})
_CONTEXT = 1_048_576
_LEVELS = ("minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class _Family:
    """Models whose names begin alike. Where a price depends on the length of a prompt there is none here."""

    beginning: str
    thinking: Thinking
    price: Price | None = None
    media_in_results: bool = False


_FAMILIES = (
    _Family("gemini-3-flash", Thinking(_LEVELS, can_be_off=False), Price(0.5, 3.0, 0.05), True),
    _Family("gemini-3", Thinking(("low", "high"), can_be_off=False), media_in_results=True),
    _Family("gemini-2.5-pro", Thinking(budget=(128, 32768), can_be_off=False)),
    _Family("gemini-2.5-flash-lite", Thinking(budget=(512, 24576)), Price(0.1, 0.4)),
    _Family("gemini-2.5-flash", Thinking(budget=(0, 24576)), Price(0.3, 2.5)),
    _Family("gemini-2.0", Thinking()),
)
"""What the models take (ai.google.dev/gemini-api/docs: "Models", "Thinking", "Pricing")."""
_NO_CHAT = ("embedding", "-image", "-tts", "-live", "-audio", "computer-use", "robotics")
"""Names of models that take or give something else than the rest of their family."""


class GoogleProvider:
    """The Gemini API of Google AI Studio."""

    name = "google"
    summary = "Google's Gemini models, with a key from Google AI Studio"
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, `AuthenticationError` without a key. No I/O."""
        model = _model(config)
        variables = (services.environment.get(name, "") for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"))
        key = check_key(next(filter(None, (config.api_key, *variables)), ""), self.name)
        if not key:
            raise AuthenticationError("no API key.", hint="Set GEMINI_API_KEY, or pass api_key=...", provider=self.name)
        endpoint = FixedEndpoint.at(check_url(config.base_url or GEMINI_URL), HeaderAuth({"x-goog-api-key": key}))
        return _session(self.name, model, endpoint)


class VertexProvider:
    """Google's models in a project of Google Cloud."""

    name = "vertex"
    summary = "Google's Gemini models on Vertex AI, in a Google Cloud project"
    options: Mapping[str, str] = {
        "project": "the Google Cloud project; GOOGLE_CLOUD_PROJECT unless told",
        "location": "where the model runs, as europe-west4; GOOGLE_CLOUD_LOCATION unless told, else global",
        "access_token": "a token, or a function that gives one; the credentials of google-auth unless told",
    }

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model or a project. No I/O: tokens are fetched later."""
        model = _model(config)
        project = _place(config, services, "project", "GOOGLE_CLOUD_PROJECT", "")
        location = _place(config, services, "location", "GOOGLE_CLOUD_LOCATION", "global")
        host = "aiplatform.googleapis.com" if location == "global" else f"{location}-aiplatform.googleapis.com"
        url = f"https://{host}/v1/projects/{project}/locations/{location}/publishers/google"
        token = config.options.get("access_token") or config.api_key
        if token is None:
            token = _ApplicationCredentials()
        elif not callable(token):
            token = check_key(token, self.name)
        return _session(self.name, model, VertexEndpoint(check_url(config.base_url or url).rstrip("/"), token))


@dataclass(frozen=True, slots=True)
class VertexEndpoint:
    """An address whose token is asked for before every attempt."""

    url: str
    token: str | Callable[[], Any] = field(repr=False)

    async def open(self, runtime: Runtime) -> Address:
        """The address; raises `AuthenticationError` if there is no token to be had."""
        token = self.token if isinstance(self.token, str) else await runtime.invoke(self.token)
        if not token:
            raise AuthenticationError("there is no access token.", provider="vertex")
        return Address(self.url, BearerAuth(check_key(token, "vertex")))

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """The error itself: nothing more is known here."""
        return error


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


def _session(provider: str, model: str, endpoint: Any) -> ProviderSession:
    # Here and not above: listing the providers should not load a wire format.
    from .gemini import Dialect, Gemini

    family = next((family for family in _FAMILIES if model.startswith(family.beginning)), None)
    if family is not None and any(word in model for word in _NO_CHAT):
        family = None
    dialect = Dialect(provider, family is not None and family.media_in_results, provider == "google")
    return ProviderSession(model, Gemini(dialect), endpoint, _profile(family))


def _profile(family: _Family | None) -> ModelProfile:
    if family is None:
        return ModelProfile(cache_points=0, known=False)
    return ModelProfile(_SEES_AND_HEARS, _CONTEXT, family.price, thinking=family.thinking, cache_points=0)
