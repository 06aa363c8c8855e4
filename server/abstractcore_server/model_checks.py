"""Checks the models and the providers of a configuration, before a client asks for them. Makes no connection."""

from __future__ import annotations

import re
from collections.abc import Sequence

import abstractcore
from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    ModelNotFoundError,
    NotFoundError,
    UnknownProviderError,
)
from abstractcore.ports import KnownUrl
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import Message, ModelCall
from abstractcore.scrubbing import shown_url

from .llms import DEFAULT, HIDDEN, LONGEST_NAME, LLMs
from .problems import Problems
from .settings import Settings

_IN_SETTINGS = (
    (", or pass api_key=...", ', or name another variable: api_key_env = "NAME".'),
    ("Pass api_key=... or headers=...", 'Name the variable that holds the key: api_key_env = "NAME".'),
)
"""Hints for programs, and what they are in the configuration."""
_BASE_URL = re.compile(r"base_url='([^']*)'")


def check_models(settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    """Raises `ConfigurationError`, with their lines, for all providers and models that cannot be used."""
    problems = Problems()
    for name in settings.providers:
        with problems.collected():
            _check_provider(name, settings, services, llms)
    with problems.collected():
        _check_default(settings, services, llms)
        for name, group in settings.models.items():  # which may name the default model
            for model in group.models:
                with problems.collected():
                    _check_model(name, model, settings, services, llms)
    problems.check()


def _check_provider(name: str, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    known = services.registry.providers
    if name not in known or name in HIDDEN:
        near = nearest_names(name[:LONGEST_NAME], known)
        hint = did_you_mean(near) if near else None
        raise settings.error("there is no such provider", "providers", name, hint=hint)
    table = settings.providers[name]
    if not table.enabled:
        return
    if table.api_key_env is not None and not services.environment.get(table.api_key_env):
        hint = "Write the name of a variable, not the key itself, and set it."
        raise settings.error(
            "there is no such variable in the environment", "providers", name, "api_key_env", hint=hint
        )
    try:
        abstractcore.create_llm(name, "any", services=services, **llms.options_of(name))
    except AbstractCoreError as error:
        options = [("options", option) for option in table.options]
        place = next((each for each in (("base_url",), *options) if re.search(rf"\b{each[-1]}\b", error.message)), ())
        raise settings.error(error.message, "providers", name, *place, hint=_hint(error)) from None


def addresses(settings: Settings, services: abstractcore.Services, llms: LLMs) -> list[str]:
    """Returns a sentence for each provider that is configured, or has an unusual base URL: which URL is requested for a
    call, and what to write if there is nothing. The providers have been checked.
    """
    found: list[str] = []
    for name in sorted(services.registry.providers):
        if not llms.usable(name):
            continue
        llm = abstractcore.create_llm(name, "any", services=services, **llms.options_of(name))
        url = llm.endpoint.url if isinstance(llm.endpoint, KnownUrl) else None
        if url is None:
            continue
        path = llm.transpiler.encode(ModelCall("any", (Message.user("hi"),), provider=name)).request.url
        explained = llm.endpoint.diagnose(NotFoundError(""))
        unusual = f" {_hint(explained)}" if explained.hint else ""
        if unusual or name in settings.providers:
            found.append(f"calls of {name} go to {shown_url(url + path)}.{unusual}")
    return found


def _check_default(settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    name = settings.server.default
    if name is None:
        return
    place = ("server", "default")
    if name in settings.models:
        hint = f"Name the table [models.{DEFAULT}] instead."
        raise settings.error(f"{name!r} is a name of [models], not a model", *place, hint=hint)
    try:
        _ = llms.default
    except AbstractCoreError as error:
        raise _unusable(name, error, settings, services, place) from None


def _check_model(group: str, name: str, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    place = ("models", group, "models")
    if name in settings.models:
        hint = f"Write the models of {name!r} themselves."
        raise settings.error(f"{name!r} is a name of [models], not a model", *place, hint=hint)
    try:
        llms.one(name)
    except AbstractCoreError as error:
        raise _unusable(name, error, settings, services, place) from None


def _unusable(
    name: str, error: AbstractCoreError, settings: Settings, services: abstractcore.Services, place: Sequence[str]
) -> ConfigurationError:
    cause = error.__cause__ if isinstance(error, ModelNotFoundError) else error
    if isinstance(cause, AbstractCoreError) and not isinstance(cause, UnknownProviderError):
        return settings.error(f"{name!r} cannot be used: {cause.message}", *place, hint=_hint(cause))
    problem = f"there is no model {name[:LONGEST_NAME]!r}"
    return settings.error(problem, *place, hint=_model_hint(name, services))


def _model_hint(name: str, services: abstractcore.Services) -> str:
    provider, slash, model = name.partition("/")
    if provider == "local" and slash:
        return (
            f"Of the models on this machine, name those that clients may use: [providers.local] models = [{model!r}]."
        )
    near = nearest_names(provider[:LONGEST_NAME], services.registry.providers)
    meant = f"{did_you_mean(near)} " if near and provider not in near else ""
    return f"{meant}Write PROVIDER/MODEL; `abstractcore models search` lists models."


def _hint(error: AbstractCoreError) -> str | None:
    """Returns the hint of an error in the words of the configuration."""
    hint = error.hint
    for program, table in _IN_SETTINGS:
        hint = hint and hint.replace(program, table)
    return hint and _BASE_URL.sub(r'base_url = "\1"', hint)
