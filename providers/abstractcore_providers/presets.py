"""Vendors that speak a known format, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import Auth, ModelProfile, ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema import EMPTY

from .endpoints import BearerAuth, FixedEndpoint, NoAuth, check_key
from .openai_chat import Dialect, OpenAIChat
from .openai_chat.dialect import COMPATIBLE


@dataclass(frozen=True, slots=True)
class Preset:
    """An OpenAI-compatible vendor. `families` maps the beginnings of model names to what those models take.

    `default_url` None means that the user gives `base_url`. A key is needed where `key_variable` is named and
    `key_needed` is left on.
    """

    name: str
    summary: str
    default_url: str | None
    key_variable: str
    key_needed: bool = True
    dialect: Dialect = field(default_factory=Dialect)
    families: tuple[tuple[str, frozenset[str]], ...] = ()

    @property
    def options(self) -> Mapping[str, str]:
        """No options beyond those of every provider."""
        return EMPTY  # pyright: ignore[reportReturnType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model or an address, `AuthenticationError` without a key."""
        if not config.model:
            raise ConfigurationError(
                f"{self.name!r} needs a model's name.", hint=f"As in create_llm({self.name!r}, model='...')."
            )
        url = config.base_url or self.default_url
        if url is None:
            raise ConfigurationError(
                f"{self.name!r} needs an address.", hint="As in base_url='http://localhost:8000/v1'."
            )
        return ProviderSession(
            model=config.model,
            transpiler=OpenAIChat(self.dialect),
            endpoint=FixedEndpoint.at(_checked(url), self._auth(config, services)),
            profile=self._profile(config.model),
        )

    def _auth(self, config: ProviderConfig, services: ProviderServices) -> Auth:
        key = check_key(config.api_key or services.environment.get(self.key_variable, ""), self.name)
        if key:
            return BearerAuth(key)
        if self.key_needed:
            raise AuthenticationError(
                "no API key.", hint=f"Set {self.key_variable}, or pass api_key=...", provider=self.name
            )
        return NoAuth()

    def _profile(self, model: str) -> ModelProfile:
        for beginning, accepts in self.families:
            if model.startswith(beginning):
                return ModelProfile(accepts)
        return ModelProfile(known=False)


def _checked(url: str) -> str:
    """`url` if it can be called. What stands before an @ is not shown: it may be a password."""
    try:
        parts = urlsplit(url)
        callable_ = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 80) > 0
    except (AttributeError, ValueError):
        callable_ = False
    if not callable_:
        shown = str(url).rpartition("@")[2]
        raise ConfigurationError(f"base_url {shown!r} is no address.", hint="It begins with http:// or https://.")
    if "@" in urlsplit(url).netloc:
        raise ConfigurationError("base_url has a user or a password, which are not sent.", hint="Pass api_key=...")
    if urlsplit(url).query or urlsplit(url).fragment:
        raise ConfigurationError("base_url has a query.", hint="Paths are put behind it: end it with the path, as /v1.")
    return url


_TEXT = frozenset[str]()
_SEES = frozenset({"image", "application/pdf"})
_HEARS = frozenset({"audio/wav", "audio/mpeg"})

PRESETS = (
    Preset(
        "openai",
        "OpenAI, chat completions",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        families=(
            ("gpt-audio", _HEARS),
            ("gpt-4o-audio", _HEARS),
            ("gpt-4o", _SEES),
            ("gpt-4.1", _SEES),
            ("gpt-4-turbo", frozenset({"image"})),
            ("gpt-4", _TEXT),
            ("gpt-3.5", _TEXT),
            ("gpt-5", _SEES),
            ("o1-mini", _TEXT),
            ("o3-mini", _TEXT),
            ("o1", _SEES),
            ("o3", _SEES),
            ("o4-mini", _SEES),
        ),
    ),
    Preset(
        "openai-compatible",
        "any server that speaks OpenAI's chat completions; needs base_url",
        None,
        "OPENAI_COMPATIBLE_API_KEY",
        key_needed=False,
        dialect=COMPATIBLE,
        families=(("", _TEXT),),
    ),
)
