"""What the user's configuration adds to the arguments of `create_llm`: named LLMs, and how providers are reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..errors import AbstractCoreError, UnknownProviderError
from ..registry import did_you_mean, nearest_names
from .option_values import merge_options
from .services import Services

if TYPE_CHECKING:
    from ..configuration import Configuration

T = TypeVar("T")
_WORD = re.compile(r"\w+")
_DEFAULT = "default"


class NamedArguments(NamedTuple):
    """The arguments of `create_llm`, with what named LLMs add. `names` are the tables that were followed."""

    provider: str | None
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
        merged = merge_options(settings.options, arguments.options)
        if settings.budget is not None:
            merged["budgets"] = [*(arguments.options.get("budgets") or ()), settings.budget]
        provider, model = settings.provider, settings.model
        if provider is None:
            provider, model = model, None
        arguments = NamedArguments(provider, model, merged, (*arguments.names, name))
    return arguments


def _name(arguments: NamedArguments) -> str:
    """Returns the only name in the arguments, "default" if there is none, and "" if there are two."""
    if arguments.provider is None:
        return _DEFAULT if arguments.model is None else arguments.model
    return arguments.provider if arguments.model is None else ""


class ProviderDefaults(NamedTuple):
    """What the table `[providers.NAME]` adds: `options` of `create_llm`, and the base URL where there is no other."""

    options: dict[str, Any]
    base_url: str | None


def provider_defaults(provider: str, options: Mapping[str, Any], services: Services) -> ProviderDefaults:
    """Returns the options of an LLM of a provider, with those of its table; what is given has precedence.

    Raises `ConfigurationError` for a variable of the environment that has no key.
    """
    configuration = services.configuration
    settings = configuration.providers.get(provider)
    if settings is None:
        return ProviderDefaults(merge_options({}, options), None)
    merged = merge_options(settings.options, options)
    if settings.headers:
        merged["headers"] = {**settings.headers, **(options.get("headers") or {})}
    if settings.api_key_env is not None and not merged.get("api_key"):
        merged["api_key"] = services.environment.get(settings.api_key_env, "")
        if not merged["api_key"]:
            hint = f"Set {settings.api_key_env}, or name another variable: not the key itself."
            path = ("providers", provider, "api_key_env")
            raise configuration.error("there is no such variable in the environment", *path, hint=hint)
    return ProviderDefaults(merged, settings.base_url)


def create_as_configured(
    create: Callable[[str | None, str | None, Mapping[str, Any]], T],
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
    tables: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [
        (("llm", name), configuration.llms[name].options) for name in arguments.names
    ]
    provider = error.provider or (arguments.provider or "").partition("/")[0]
    if provider in configuration.providers:
        tables.append((("providers", provider), configuration.providers[provider].options))
    words = _WORD.findall(getattr(error, "path", None) or error.message)
    for place, options in tables:
        for option in options:
            if option not in given and option in words:
                message = error.message.removeprefix(f"{option}: ")
                return configuration.error(message, *place, "options", option, hint=error.hint)
    if isinstance(error, UnknownProviderError):
        if arguments.names:
            return configuration.error(error.message, "llm", arguments.names[-1], "model", hint=error.hint)
        near = nearest_names(_name(arguments), configuration.llms)
        error.hint = did_you_mean(near) if near else error.hint
    return error
