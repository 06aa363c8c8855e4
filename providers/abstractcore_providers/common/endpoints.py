"""Endpoints with a fixed base URL, and the usual kinds of authentication. No I/O.

The headers of a request whose body is JSON. The hint for a wrong base URL of a server with OpenAI's formats. Applies
a model's settings, from the catalogue or the user, to the dialect of its wire format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from urllib.parse import urlsplit

from abstractcore.errors import (
    AbstractCoreError,
    AuthenticationError,
    ConfigurationError,
    ModelNotFoundError,
    NotFoundError,
    ProviderError,
)
from abstractcore.ports import Address, Auth, Endpoint, KnownUrl, ProviderConfig, Runtime
from abstractcore.schema import EMPTY, FrozenDict, WireRequest
from abstractcore.schema.base_error import shown
from abstractcore.schema.wire import whole_base_url

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_METHOD_NOT_ALLOWED = 405
_THIS_MACHINE = "localhost"
_VARIABLE = re.compile(r"\{([A-Z_]+)\}")
_URL_PART = re.compile(r"[A-Za-z0-9_-]+")
_CREDENTIAL_HEADERS = frozenset({"api-key", "authorization", "x-api-key", "x-goog-api-key"})


@dataclass(frozen=True, slots=True)
class NoAuth:
    """No credentials. `hint` is that of the error where credentials are required."""

    hint: str = field(default="", repr=False, compare=False)

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request unchanged."""
        return request


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """`Authorization: Bearer <key>` (RFC 6750). `hint` is that of the error if the key is rejected."""

    key: str = field(repr=False)
    hint: str = field(default="", repr=False, compare=False)

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request with the `authorization` header."""
        return request.with_headers({"authorization": f"Bearer {self.key}"})


@dataclass(frozen=True, slots=True)
class HeaderAuth:
    """Credentials and other header fields of every request to a vendor. `hint` is that of the error if they are
    rejected.
    """

    headers: Mapping[str, str] = field(repr=False)
    hint: str = field(default="", repr=False, compare=False)

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request with the header fields."""
        return request.with_headers(self.headers)


@dataclass(frozen=True, slots=True)
class FixedEndpoint:
    """A base URL that is known before the first call. `usual_path` is the usual end of such URLs, such as "/v1", and
    `variable` the environment variable that the URL came from, "" without one.
    """

    address: Address
    usual_path: str = ""
    variable: str = ""

    @classmethod
    def at(cls, url: str, auth: Auth, usual: str = "", query: str = "", variable: str = "") -> FixedEndpoint:
        """Returns the endpoint with the base URL `url`; `usual` is the vendor's default URL."""
        return cls(Address(url.rstrip("/"), auth, query=query), urlsplit(usual).path.rstrip("/"), variable)

    @property
    def url(self) -> str:
        """The base URL."""
        return self.address.url

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address without I/O."""
        return self.address

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error; for a rejected key with the source of the key, for a path that the server does not have
        with the usual path. Hints for the address name the variable that it came from.
        """
        add_key_hint(error, self.address.auth)
        if self.usual_path and not self.address.url.endswith(self.usual_path) and is_missing_path(error):
            error.hint = error.hint or _usual_hint(self.address.url, self.usual_path)
        if self.variable and error.hint:
            error.hint = error.hint.replace("base_url if you gave one", "base_url").replace("base_url", self.variable)
        return error


def add_key_hint(error: ProviderError, auth: Auth) -> None:
    """Adds the source of the API key to the error of a rejected key, if `auth` knows it."""
    if isinstance(error, AuthenticationError):
        error.hint = getattr(auth, "hint", "") or error.hint


def is_missing_path(error: ProviderError) -> bool:
    """Whether the server has nothing at the requested path."""
    if isinstance(error, ModelNotFoundError):
        return False
    return isinstance(error, NotFoundError) or error.status == _METHOD_NOT_ALLOWED


def _usual_hint(url: str, usual: str) -> str:
    """The base URL with the usual path, unless it has another path, which may contain a key."""
    hint = f"The base URL of this API usually ends with {usual}"
    beginning = url.partition(f"{usual}/")[0]
    return f"{hint}." if urlsplit(beginning).path else f"{hint}: try base_url='{beginning}{usual}'."


def listing_hint(provider: str, endpoint: Endpoint, usual: str | None, path: str = "") -> str:
    """Returns the line that lists the models of a server of the user's own; "" for an endpoint in the domain of
    `usual`, the vendor's URL. An unusual path, neither that of `usual` nor `path`, may contain a key, and is left out.
    """
    url = endpoint.url if isinstance(endpoint, KnownUrl) else None
    if url is None or _domain(url) == _domain(usual or "") != _THIS_MACHINE:
        return ""
    usual = usual or _THIS_MACHINE
    given = url if urlsplit(url).path in ("", "/v1", path, urlsplit(usual).path) else "URL"
    address = "" if url == usual.rstrip("/") else f" --base-url {given}"
    return f"`abstractcore models list --provider {provider}{address}` lists the models of this server."


def _domain(url: str) -> str:
    """Returns the last two labels of a URL's host: those of a vendor's regions are the same."""
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])


def key_auth(
    config: ProviderConfig,
    environment: Mapping[str, str],
    *variables: str,
    header: str | None = None,
    needed: bool = True,
    more: Mapping[str, str] = EMPTY,  # pyright: ignore[reportArgumentType]
    instead: str | None = None,
) -> Auth:
    """Returns the authentication: `api_key`, else the first variable that is set, as a bearer token or in `header`.

    `more` are header fields of every request; `instead` is an option that replaces the API key. Raises
    `AuthenticationError` if there is no key, unless none is `needed` or the user passes a header with credentials.
    """
    variable = next((name for name in variables if environment.get(name)), "")
    key = check_key(config.api_key or environment.get(variable, ""), config.provider)
    hint = key_hint(config, variable, *variables)
    if not key and needed and config.header_names.isdisjoint(_CREDENTIAL_HEADERS):
        other = f" or {instead}=..." if instead else ""
        hint = f"Set {variables[0]}, or pass api_key=...{other}"
        raise AuthenticationError("no API key.", hint=hint, provider=config.provider)
    if key and header is None:
        return BearerAuth(key, hint)
    headers = {**more, header: key} if key and header is not None else more
    return HeaderAuth(headers, hint) if headers else NoAuth(hint)


def key_hint(config: ProviderConfig, read: str, *variables: str) -> str:
    """Returns the hint for a rejected key: `read` is the variable that the key came from, if any; `variables` are those
    that are read.
    """
    usual = next(filter(None, variables), "")
    if config.api_key:
        return f"Check the key passed as api_key=...{f'; without it, {usual} is read.' if usual else ''}"
    if read:
        return f"Check {read}, or pass api_key=..."
    others = f"set {usual}, or pass api_key=..." if usual else "pass api_key=..."
    if not config.header_names.isdisjoint(_CREDENTIAL_HEADERS):
        return f"Check the credentials in headers=..., or {others}"
    return others[0].upper() + others[1:]


def check_key(key: str, provider: str) -> str:
    """Returns the API key without surrounding whitespace; raises `ConfigurationError` for one that is invalid in an
    HTTP header.
    """
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigurationError(f"the API key for {provider} is text, not {type(key).__name__}")
    key = key.strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"the API key for {provider} has characters a key cannot have",
            hint="Copy it again, without quotes, spaces or line breaks.",
        )
    return key


@overload
def base_url(
    config: ProviderConfig, environment: Mapping[str, str], *variables: str, default: str, path: str = ""
) -> str: ...


@overload
def base_url(
    config: ProviderConfig, environment: Mapping[str, str], *variables: str, default: str | None = None, path: str = ""
) -> str | None: ...


def base_url(
    config: ProviderConfig, environment: Mapping[str, str], *variables: str, default: str | None = None, path: str = ""
) -> str | None:
    """Returns the base URL: `base_url`, else the first variable that is set, else that of the user's configuration,
    else `default`.

    `variables` are those that the vendor's own client reads, `path` is what that client appends to them. Both are read
    with and without it: see `whole_base_url`. Raises `ConfigurationError` for an invalid URL.
    """
    if config.base_url:
        return whole_base_url(check_url(config.base_url), default, path)
    variable = url_variable(config, environment, *variables)
    if variable:
        return whole_base_url(check_url(environment[variable].strip(), variable), default, path)
    return whole_base_url(check_url(config.default_url), default, path) if config.default_url else default


def url_variable(config: ProviderConfig, environment: Mapping[str, str], *variables: str) -> str:
    """Returns the variable that the base URL comes from, "" for another source."""
    if config.base_url:
        return ""
    return next((name for name in variables if environment.get(name, "").strip()), "")


def filled_url(template: str | None, environment: Mapping[str, str]) -> str | None:
    """Returns a provider's default URL, in which "{AWS_REGION}" is the value of this environment variable, if it is
    set. Raises `ConfigurationError` for a value that is not a part of a URL.
    """

    def value(found: re.Match[str]) -> str:
        text = environment.get(found[1], "").strip()
        if text and not _URL_PART.fullmatch(text):
            raise ConfigurationError(f"{found[1]} is not a part of a URL.", hint=_variable_hint(found[1], found.string))
        return text or found[0]

    return None if template is None else _VARIABLE.sub(value, template)


def check_filled(url: str, provider: str) -> None:
    """Raises `ConfigurationError` for a default URL with a variable that is not set."""
    missing = _VARIABLE.search(url)
    if missing is not None:
        raise ConfigurationError(f"{provider!r} needs an address.", hint=_variable_hint(missing[1], url))


def _variable_hint(name: str, template: str) -> str:
    example = _VARIABLE.sub(r"\1", template)
    return f"Set {name}, or pass base_url={example!r}."


def check_url(url: str, source: str = "base_url") -> str:
    """Returns `url`; raises `ConfigurationError` if it is invalid. The part before an @ is not shown, as it may be a
    password.

    `source` names where the URL comes from.
    """
    try:
        url.encode()  # a lone surrogate cannot be sent
        parts = urlsplit(url)
        callable_ = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 80) > 0
    except (AttributeError, ValueError):
        callable_ = False
    if not callable_:
        shown = str(url).rpartition("@")[2]
        hint = "Write the whole URL, as in http://localhost:8000/v1."
        raise ConfigurationError(f"{source} {shown!r} is not a URL that begins with http:// or https://.", hint=hint)
    if "@" in urlsplit(url).netloc:
        raise ConfigurationError(
            f"{source} has a user name or password, which are not sent.", hint="Pass api_key=... or headers=..."
        )
    if urlsplit(url).query or urlsplit(url).fragment:
        raise ConfigurationError(
            f"{source} has a query.", hint="Paths are appended to it: end it with the path, such as /v1."
        )
    return url


JSON_HEADERS = cast("Mapping[str, str]", FrozenDict({"content-type": "application/json"}))


RIGHT_ADDRESS = "Does base_url point to the API, including /v1?"
"""The hint where something other than the API answers."""


DialectT = TypeVar("DialectT", bound="DataclassInstance")


def with_settings(dialect: DialectT, settings: Mapping[str, Any]) -> DialectT:
    """Returns `dialect` with the fields in `settings`, such as those of `ModelProfile`; lists become sets.

    Raises `ConfigurationError` for a name that is not a field, and for a value of another type than the field's.
    """
    if not settings:
        return dialect
    return replace(dialect, **{name: _value(dialect, name, value) for name, value in settings.items()})


def setting_names(dialect: type[DataclassInstance]) -> frozenset[str]:
    """Returns the names of the settings of models whose wire format has this class of dialects."""
    return frozenset(field.name for field in fields(dialect))


def check_setting_names(given: Iterable[str], known: Set[str], format_of: str) -> None:
    """Raises `ConfigurationError`, with the nearest name, for a setting that the format of a provider does not know."""
    for name in given:
        if name not in known:
            raise unknown_setting(name, known, format_of)


def unknown_setting(name: str, known: Set[str], format_of: str = "") -> ConfigurationError:
    """Returns the error for a setting that is not known."""
    from difflib import get_close_matches

    where = f" in the wire format of {format_of!r}" if format_of else ""
    nearest = get_close_matches(name, sorted(known), 1, 0.6)
    hint = f"The settings are {', '.join(sorted(known))}." if known else "It has no settings: remove it."
    return ConfigurationError(
        f"settings.{name}: no such setting{where}.", hint=f"Did you mean {nearest[0]!r}? {hint}" if nearest else hint
    )


def _value(dialect: DataclassInstance, name: str, value: Any) -> Any:
    names = setting_names(type(dialect))
    if name not in names:
        raise unknown_setting(name, names)
    present = getattr(dialect, name)
    if isinstance(present, Set):
        return _texts(name, value)
    if type(value) is not type(present):
        raise _wrong_type(name, type(present).__name__, value)
    return value


def _texts(name: str, value: Any) -> frozenset[str]:
    items = cast("list[object]", value)
    if not isinstance(value, list | tuple | Set) or not all(isinstance(item, str) for item in items):
        raise _wrong_type(name, "a list of texts", items)
    return frozenset(cast("list[str]", items))


def _wrong_type(name: str, expected: str, value: object) -> ConfigurationError:
    return ConfigurationError(f"settings.{name}: expected {expected}, got {shown(value)}.")
