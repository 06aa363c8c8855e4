"""`create_llm("auto")`: the best model that is there: of a key in the environment, of a server on this machine, or the
embedded one. `provider_states`: which of them there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from ..errors import AbstractCoreError, AuthenticationError, ConfigurationError, InvalidInputError, PluginError
from ..ports import HasModelExamples, KnownUrl, ProviderConfig
from ..routing import Routing
from ..schema.base_error import one_line
from ..scrubbing import shown_url
from .groups import ChosenMembers
from .llm import LLM
from .option_values import seconds
from .services import Services, default_services

_PROBE_SECONDS: Final = 0.2
_MOST_PROBES: Final = 16
_EMBEDDED: Final = "local"
_HIDDEN: Final = frozenset({"scripted"})
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
_ANY_MODEL: Final = "any"
_TRACES_VARIABLE: Final = "ABSTRACTCORE_TRACES"


@dataclass(frozen=True, slots=True)
class ProviderState:
    """What there is of a provider: whether it needs a key, and has one in the environment; the address, if it is known;
    the names of the models of a server on this machine that answers, None for others.
    """

    name: str
    summary: str
    needs_key: bool
    """Whether it is reached with a key."""
    has_key: bool
    """Whether a key was found, in the environment or the configuration."""
    address: str | None
    models: tuple[str, ...] | None = None
    example: str | None = None
    """The name of a model, as documentation has it."""
    problem: str | None = None
    """Why it cannot be used as it is set up in the environment or the configuration, if it is set up at all."""
    key_hint: str | None = None
    """How its key is set, as in "Set OPENAI_API_KEY.", if it needs one."""

    @property
    def answers(self) -> bool:
        """Whether it is a server on this machine that answers."""
        return self.models is not None

    @property
    def is_on_this_machine(self) -> bool:
        """Whether it is the embedded model, or a server on this machine, whether it answers or not."""
        return self.name == _EMBEDDED or _is_on_this_machine(self.address)


def provider_states(services: Services | None = None, *, timeout: float = _PROBE_SECONDS) -> list[ProviderState]:
    """Returns what there is of each provider. Asks the servers of this machine for their models, all at once, for
    `timeout` seconds at most; blocks. Raises `InvalidInputError`.
    """
    if services is None:
        services = default_services()
    elif not isinstance(services, Services):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected Services, got {type(services).__name__}", path="services")
    seconds(timeout, "timeout")
    empty = Services(environment={}, registry=services.registry, catalogue=services.catalogue)
    states = [_state(name, services, empty) for name in services.registry.providers if name not in _HIDDEN]
    servers = [each for each in states if _is_on_this_machine(each.address) and not each.needs_key]
    if not servers:
        return states
    quiet = _without_records(services)
    try:
        with ThreadPoolExecutor(_MOST_PROBES, "abstractcore-probes") as pool:
            names = [each.name for each in servers]
            models = dict(zip(names, pool.map(partial(_models, quiet, timeout), names), strict=True))
    finally:
        quiet.close()
    return [replace(each, models=models.get(each.name)) for each in states]


def _without_records(services: Services) -> Services:
    """Returns services with the same environment, whose calls nobody is notified of."""
    environment = {name: each for name, each in services.environment.items() if name != _TRACES_VARIABLE}
    return Services(environment=environment, registry=services.registry, catalogue=services.catalogue)


def choose(
    services: Services,
    create: Callable[[str, Mapping[str, Any]], LLM],
    options: Mapping[str, Any],
    *,
    timeout: float = _PROBE_SECONDS,
) -> ChosenMembers:
    """Returns the best model that is there, with the reason. Blocks, for as long as servers on this machine are asked.

    Raises `ConfigurationError` if there is none.
    """
    name, reason = configured_choice(services) or _found(provider_states(services, timeout=timeout))
    llm = create(name, options)
    return ChosenMembers([llm], [llm], Routing(), reason)


def configured_choice(services: Services) -> tuple[str, str] | None:
    """Returns the first model that the user's configuration names for "auto" and whose key is there, and the reason;
    None without one. Raises the errors of `create_llm` for models that cannot be created.
    """
    from .factory import create_llm

    for name in services.configuration.auto.models:
        try:
            create_llm(name, services=services).close()
        except AuthenticationError:
            continue
        return name, "since [auto] of the configuration names it"
    return None


def _found(states: list[ProviderState]) -> tuple[str, str]:
    """Returns the name of the best model, and the reason. Of one vendor with several formats, the plain name counts."""
    with_key = [each for each in states if each.needs_key and each.has_key]
    for each in sorted(with_key, key=lambda each: "-" in each.name):
        if each.example is not None:
            return f"{each.name}/{each.example}", f"since the environment has a key of {each.name}"
    unusable = [f"{each.name} has no model that is known here" for each in with_key]
    unusable += [f"{each.name} cannot be used: {each.problem}" for each in states if each.problem is not None]
    why = "".join(f"; {each}" for each in unusable)
    for each in states:
        if each.models:
            return f"{each.name}/{each.models[0]}", f"since {each.name} answers at {each.address}{why}"
    if any(each.name == _EMBEDDED for each in states):
        return _EMBEDDED, f"since there is no {'usable ' if why else ''}key and no server on this machine{why}"
    raise ConfigurationError(
        "no model was found: no key in the environment, no server on this machine, and no embedded model.",
        hint="Name one: create_llm('PROVIDER/MODEL').",
    )


def _state(name: str, services: Services, empty: Services) -> ProviderState:
    """Returns what there is of a provider; `empty` are services without an environment."""
    provider = services.registry.provider(name, None)
    examples: Mapping[str, str] = provider.model_examples if isinstance(provider, HasModelExamples) else {}
    unset = _failure(partial(provider.connect, ProviderConfig(name, _ANY_MODEL), empty))
    needs_key = isinstance(unset, AuthenticationError)
    made: list[LLM] = []
    failure = _failure(lambda: made.append(_any_model(name, services)))
    url = made[0].endpoint.url if made and isinstance(made[0].endpoint, KnownUrl) else None
    of_all = _failure(lambda: services.configuration)
    is_set_up = not isinstance(failure, AuthenticationError) and str(failure) not in (str(unset), str(of_all))
    return ProviderState(
        name,
        provider.summary,
        needs_key=needs_key,
        has_key=needs_key and bool(made),
        address=None if url is None else shown_url(url),
        example=next(iter(examples.values()), None),
        problem=one_line(failure.message) if failure is not None and is_set_up else None,
        key_hint=unset.hint if isinstance(unset, AuthenticationError) else None,
    )


def _failure(connect: Callable[[], object]) -> AbstractCoreError | None:
    """Returns the error of a provider that cannot be connected; one of a plugin is a `PluginError`."""
    try:
        connect()
    except AbstractCoreError as error:
        return error
    except Exception as error:
        return PluginError(f"{type(error).__name__}: {error}")
    return None


def _any_model(name: str, services: Services, **options: Any) -> LLM:
    from .factory import create_llm

    return create_llm(name, _ANY_MODEL, services=services, **options)


def _is_on_this_machine(address: str | None) -> bool:
    return address is not None and urlsplit(address).hostname in _THIS_MACHINE


def _models(services: Services, timeout: float, name: str) -> tuple[str, ...] | None:
    """Returns the models of a server; None if it does not answer in time."""
    try:
        found = _any_model(name, services, max_retries=0).operate("list_models", timeout=timeout)
        return tuple(found.value.names)
    except AbstractCoreError:
        return None
