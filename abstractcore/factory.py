"""`create_llm`: from a provider's name and options to an `LLM`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Unpack

from .engine import Retry
from .errors import ConfigurationError, InvalidInputError
from .llm import LLM
from .option_values import at_least_zero, media_policy, sampling, seconds, tool_choice
from .options import CALL_OPTIONS, LLM_OPTIONS, CreateOptions, check_names, merged
from .pipelines import Pipelines
from .ports import ModelProfile, Provider, ProviderConfig, ProviderSession
from .services import Services, default_services
from .transport import TransportSettings

_DEFAULT_PROVIDER = "local"
_DEFAULT_RETRIES = 2


def create_llm(
    provider: str | None = None,
    model: str | None = None,
    *,
    services: Services | None = None,
    **options: Unpack[CreateOptions],
) -> LLM:
    """An LLM of `provider`: `create_llm("openai", model="gpt-5")`, `create_llm("openai/gpt-5")`, or the embedded model.

    `options` are defaults for every call (see `CallOptions`), how the provider is reached (see `LLMOptions`), and the
    provider's own. Makes no connection and does no I/O. Raises `UnknownProviderError` and `UnknownOptionError` with
    the nearest names, and `ConfigurationError` for what cannot work.
    """
    services = services or default_services()
    name, model = _names(provider, model)
    chosen = services.registry.provider(name)
    check_names(options, {*LLM_OPTIONS, *chosen.options}, f"the provider {name!r}")
    given = merged({}, options)
    _check_defaults(given)
    session = _session(chosen, model, given, services)
    retries = given.get("max_retries", _DEFAULT_RETRIES)
    middleware = (Retry(retries, services.random), *given.get("middleware", ()))
    settings = TransportSettings(proxy=given.get("proxy"), verify=given.get("verify", True))
    pipelines = Pipelines(session, services, settings, middleware, given.get("transcription_model"))
    return LLM(name, pipelines, {key: value for key, value in given.items() if key in CALL_OPTIONS})


def _names(provider: str | None, model: str | None) -> tuple[str, str | None]:
    """The provider's and the model's name, from two arguments or from `provider/model` in one."""
    if provider is None:
        return _DEFAULT_PROVIDER, model
    if not isinstance(provider, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a name, got {type(provider).__name__}", path="provider")
    name, slash, rest = provider.partition("/")
    if slash and model is not None:
        raise InvalidInputError(f"two models are named, {rest!r} and {model!r}", path="model", hint="Give one of them.")
    return name, rest if slash else model


def _check_defaults(given: dict[str, Any]) -> None:
    """Wrong values are told of here, not at the first call."""
    sampling(given)
    media_policy(given.get("media_policy", {}))
    tool_choice(given.get("tool_choice"))
    seconds(given.get("timeout"), "timeout")
    at_least_zero(given.get("max_retries", 0), "max_retries")


def _session(provider: Provider, model: str | None, given: dict[str, Any], services: Services) -> ProviderSession:
    config = ProviderConfig(
        provider=provider.name,
        model=model,
        base_url=given.get("base_url"),
        api_key=given.get("api_key"),
        options={name: given[name] for name in provider.options if name in given},
    )
    session = provider.connect(config, services)
    accepts = given.get("accepts")
    if accepts is None:
        return session
    return replace(session, profile=_accepting(session.profile, accepts))


def _accepting(profile: ModelProfile, accepts: Sequence[str]) -> ModelProfile:
    if isinstance(accepts, str) or not isinstance(accepts, Collection):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigurationError("`accepts` is a list of kinds or media types.", hint="As in accepts=['image'].")
    return replace(profile, accepts=frozenset(accepts), known=True)
