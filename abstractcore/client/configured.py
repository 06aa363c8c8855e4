"""What the user's configuration adds to the arguments of `create_llm`: named LLMs, and how providers are reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..engine import credentials_of_endpoint
from ..errors import AbstractCoreError, AuthenticationError, UnknownProviderError
from ..ports import KnownAddress, ProviderConfig
from ..registry import did_you_mean, nearest_names
from ..scrubbing import Secrets
from .option_values import layered, merge_options
from .services import Services

if TYPE_CHECKING:
    from ..configuration import Configuration, ConfiguredProvider

T = TypeVar("T")
_WORD = re.compile(r"\w+")
_DEFAULT = "default"


class NamedArguments(NamedTuple):
    """The arguments of `create_llm`, with what named LLMs add. `names` are the tables that were followed."""

    provider: str | list[str] | None
    model: str | None
    options: Mapping[str, Any]
    names: tuple[str, ...] = ()


def named_arguments(
    provider: str | None, model: str | None, options: Mapping[str, Any], configuration: Configuration
) -> NamedArguments:
    """Returns the arguments of `create_llm`, with those of the table `[llm.NAME]` that the only name given stands for;
    without any name, those of `[llm.default]`. What the program passes has precedence; budgets are added.
    """
    arguments = NamedArguments(provider, model, options)
    while (name := _name(arguments)) in configuration.llms:
        settings = configuration.llms[name]
        own = {"limits": settings.limits, "routing": settings.routing}
        defaults = {**settings.options, **{key: each for key, each in own.items() if each is not None}}
        merged = layered(defaults, arguments.options)
        if settings.budget is not None:
            merged["budgets"] = [*(arguments.options.get("budgets") or ()), settings.budget]
        target, model = settings.provider or settings.model, settings.model if settings.provider else None
        arguments = NamedArguments([*settings.models] or target, model, merged, (*arguments.names, name))
    return arguments


def _name(arguments: NamedArguments) -> str:
    """Returns the only name in the arguments, "default" if there is none, and "" if there are two."""
    provider, model = arguments.provider, arguments.model
    if provider is None:
        return _DEFAULT if model is None else model
    return provider if model is None and isinstance(provider, str) else ""


class ProviderDefaults(NamedTuple):
    """What the table `[providers.NAME]` adds: `options` of `create_llm`, and the base URL where there is no other."""

    options: dict[str, Any]
    base_url: str | None


def provider_defaults(provider: str, options: Mapping[str, Any], services: Services) -> ProviderDefaults:
    """Returns the options of an LLM of a provider, with those of its table; what is given has precedence.

    Raises `AuthenticationError` for a variable of the environment that has no key.
    """
    settings = services.configuration.providers.get(provider)
    if settings is None:
        return ProviderDefaults(merge_options({}, options), None)
    merged = {**({} if settings.limits is None else {"limits": settings.limits}), **layered(settings.options, options)}
    if settings.headers:
        given = (settings.headers, settings.options.get("headers"), options.get("headers"))
        if all(isinstance(each, Mapping) for each in given if each is not None):  # others are refused later
            merged["headers"] = {name: value for each in given if each for name, value in each.items()}
    if not merged.get("api_key"):
        key = _key(provider, settings, merged, services)
        merged |= {} if key is None else {"api_key": key}
    return ProviderDefaults(merge_options({}, merged), settings.base_url)


def _key(
    provider: str, settings: ConfiguredProvider, options: Mapping[str, Any], services: Services
) -> str | Callable[[], str] | None:
    """Returns the key that the table of a provider names, or the function that runs its command; None without any."""
    if settings.api_key_env is not None:
        key = services.environment.get(settings.api_key_env)
        if key:
            return key
        hint = f"Set {settings.api_key_env}, or name another variable: not the key itself."
        place = ("providers", provider, "api_key_env")
        error = services.configuration.error("the environment variable is not set", *place, hint=hint)
        raise AuthenticationError(error.message, provider=provider, hint=hint)
    if settings.api_key_command and not _has_key(provider, settings, options, services):
        from .key_commands import KeyCommand

        new = KeyCommand(provider, settings.api_key_command)
        return services.key_commands.setdefault(provider, new).for_llm()
    return None


def _has_key(provider: str, settings: ConfiguredProvider, options: Mapping[str, Any], services: Services) -> bool:
    """Returns whether the environment, or an option, has a key of the provider, which may need none."""
    if callable(options.get("access_token")):
        return True
    chosen = services.registry.provider(provider, None)
    own = {name: options[name] for name in chosen.options if options.get(name) is not None}
    config = ProviderConfig(provider, "any", options.get("base_url"), None, own, default_url=settings.base_url)
    try:
        session = chosen.connect(config, services)
    except AuthenticationError:
        return False
    except AbstractCoreError:
        return True
    secrets = Secrets()
    credentials_of_endpoint(session.endpoint, secrets)
    return not secrets.is_empty or not isinstance(session.endpoint, KnownAddress)


def create_as_configured(
    create: Callable[[str | list[str] | None, str | None, Mapping[str, Any]], T],
    provider: str | None,
    model: str | None,
    options: Mapping[str, Any],
    services: Services,
) -> T:
    """Returns the result of `create` with the arguments that the configuration makes of these. An error about an
    option of the configuration names its file, line and column.
    """
    configuration = services.configuration
    if not configuration.llms and not configuration.providers:
        return create(provider, model, options)
    arguments = named_arguments(provider, model, options, configuration)
    try:
        return create(arguments.provider, arguments.model, arguments.options)
    except AbstractCoreError as error:
        raise _located(error, arguments, options, configuration) from None


def _located(
    error: AbstractCoreError, arguments: NamedArguments, given: Mapping[str, Any], configuration: Configuration
) -> AbstractCoreError:
    """Returns the error, or one with the place in the file, if it is about a value there."""
    words = _WORD.findall(getattr(error, "path", None) or error.message)
    for *place, option in _values(error, arguments, configuration):
        if option not in given and option in words:
            message = error.message.removeprefix(f"{option}: ")
            return configuration.error(message, *place, option, hint=error.hint)
    if isinstance(error, UnknownProviderError):
        asked = arguments.provider
        models = asked if isinstance(asked, list) else [asked or _name(arguments)]
        near = nearest_names(next((each for each in models if repr(each) in error.message), ""), configuration.llms)
        hint = did_you_mean(near) if near else error.hint
        if arguments.names:
            key = "models" if isinstance(arguments.provider, list) else "model"
            return configuration.error(error.message, "llm", arguments.names[-1], key, hint=hint)
        error.hint = hint
    return error


def _values(
    error: AbstractCoreError, arguments: NamedArguments, configuration: Configuration
) -> Iterator[tuple[str, ...]]:
    """Yields the places of values in the file that the arguments were made of."""
    for name in arguments.names:
        yield from (("llm", name, "options", option) for option in configuration.llms[name].options)
    provider = error.provider or (arguments.provider if isinstance(arguments.provider, str) else "").partition("/")[0]
    if provider in configuration.providers:
        settings = configuration.providers[provider]
        yield from (("providers", provider, "options", option) for option in settings.options)
        if settings.base_url is not None:
            yield "providers", provider, "base_url"
