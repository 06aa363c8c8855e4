"""What the user's configuration adds to the arguments of `create_llm`: named LLMs, and how providers are reached."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..errors import AbstractCoreError, AuthenticationError, UnknownProviderError
from ..ports import ProviderConfig
from ..registry import did_you_mean, nearest_names
from .option_values import merge_options
from .services import Services

if TYPE_CHECKING:
    from ..configuration import Configuration

T = TypeVar("T")
_WORD = re.compile(r"\w+")
_DEFAULT = "default"
_COMMAND_SECONDS = 30.0


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
        merged = merge_options(defaults, arguments.options)
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

    Raises `ConfigurationError` for a variable of the environment that has no key.
    """
    configuration = services.configuration
    settings = configuration.providers.get(provider)
    if settings is None:
        return ProviderDefaults(merge_options({}, options), None)
    merged = merge_options(settings.options, options)
    if settings.limits is not None:
        merged.setdefault("limits", settings.limits)
    if settings.headers:
        merged["headers"] = {**settings.headers, **(options.get("headers") or {})}
    if settings.api_key_env is not None and not merged.get("api_key"):
        merged["api_key"] = services.environment.get(settings.api_key_env, "")
        if not merged["api_key"]:
            hint = f"Set {settings.api_key_env}, or name another variable: not the key itself."
            path = ("providers", provider, "api_key_env")
            raise configuration.error("there is no such variable in the environment", *path, hint=hint)
    if settings.api_key_command and not merged.get("api_key") and not _has_key(provider, services):
        merged["api_key"] = KeyCommand(provider, settings.api_key_command)
    return ProviderDefaults(merged, settings.base_url)


def _has_key(provider: str, services: Services) -> bool:
    """Returns whether the environment has a key of the provider."""
    try:
        services.registry.provider(provider, None).connect(ProviderConfig(provider, "any"), services)
    except AuthenticationError:
        return False
    except AbstractCoreError:
        return True
    return True


class KeyCommand:
    """A command that prints the API key of a provider; run when the first request needs it."""

    def __init__(self, provider: str, command: tuple[str, ...]) -> None:
        self._provider = provider
        given = [*command]
        self._command = given if len(given) > 1 else shlex.split(given[0])

    def __call__(self) -> str:
        """Returns the key; blocks. Raises `AuthenticationError` if the command fails, or prints none."""
        import subprocess

        shown = " ".join(self._command)
        try:
            done = subprocess.run(
                self._command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_COMMAND_SECONDS
            )
            problem = f"exit status {done.returncode}: {done.stderr.strip()[:200]}" if done.returncode else None
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            done, problem = None, str(error)
        key = "" if done is None or problem else done.stdout.strip()
        if not key:
            hint = f"api_key_command of [providers.{self._provider}] has to print the key."
            message = f"the command {shown!r} gave no key: {problem or 'it printed nothing'}"
            raise AuthenticationError(message, provider=self._provider, hint=hint)
        return key


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
    tables: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [
        (("llm", name), configuration.llms[name].options) for name in arguments.names
    ]
    provider = error.provider or (arguments.provider if isinstance(arguments.provider, str) else "").partition("/")[0]
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
            key = "models" if isinstance(arguments.provider, list) else "model"
            return configuration.error(error.message, "llm", arguments.names[-1], key, hint=error.hint)
        near = nearest_names(_name(arguments), configuration.llms)
        error.hint = did_you_mean(near) if near else error.hint
    return error
