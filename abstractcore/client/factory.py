"""`create_llm`: creates an `LLM` from a provider's name and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from ..errors import AuthenticationError, InvalidInputError, SchemaError
from ..lazy_modules import LazyModule
from ..middleware import Limiting, OfflineEndpoint
from ..option_help import takes
from ..ports import (
    Middleware,
    Price,
    Pricing,
    Provider,
    ProviderConfig,
    ProviderServices,
    ProviderSession,
)
from ..registry import failures_of, is_misspelt_provider
from ..scrubbing import Secrets, credentials_of, scrub_logs
from .assembly import DEFAULTS, assembled, checked_options, media_options, without_prices
from .configured import create_as_configured, provider_defaults
from .create_options import CREATE_OPTIONS, LLM_OPTIONS, CreateOptions
from .llm import LLM, LLMArguments
from .option_names import OptionNames
from .pipelines import Pipelines
from .services import Services, connections, default_services

if TYPE_CHECKING:
    from .. import routing
    from ..registry import Registry
    from .fact_overrides import FactOverrides
else:
    routing = LazyModule("abstractcore.routing")

_DEFAULT_PROVIDER = "local"
_AUTO = "auto"
"""The name for a model that is chosen at the first call."""
_WEIGHTS = ".gguf"
"""The end of a path of weights, which the default provider reads: "local/x.gguf" is a file in a folder."""
_NO_KEY = "no-key-is-needed"


@takes(CreateOptions)
def create_llm(
    provider: str | Sequence[str | routing.Member | Mapping[str, Any] | LLM] | None = None,
    model: str | None = None,
    *,
    services: Services | None = None,
    **options: Unpack[CreateOptions],
) -> LLM:
    """Creates an LLM, as in `create_llm("openai", model="gpt-5.4")`, `create_llm("openai/gpt-5.4")` or
    `create_llm(model="openai/gpt-5.4")`; without a provider, the embedded model.

    `options` are defaults for every call (see `CallOptions`), connection settings (see `LLMOptions`), and options of
    the provider. Makes no connection and does no I/O. Raises `UnknownProviderError` and `UnknownOptionError` with
    similar names, and `ConfigurationError` for an invalid configuration.

    A list of models is a group, whose calls they share as `routing` says: names, `Member`s and LLMs. One without a key
    is left out; `AuthenticationError` if all are. `create_llm("auto")` chooses a model at its first call: that of a key
    in the environment, of a server on this machine, or the embedded one. `services` are clock, stores and registry of
    its own. Raises `InvalidInputError` for an argument of a wrong type.
    """
    arguments = LLMArguments(create_llm, provider, model, services, options)
    if services is None:
        services = default_services()
    elif not isinstance(services, Services):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected Services, got {type(services).__name__}", path="services")
    services.check_media_policy()
    if not isinstance(provider, str | None):
        return _create(arguments, services, provider, model, options)
    return create_as_configured(partial(_create, arguments, services), provider, model, options, services)


def _create(
    arguments: LLMArguments, services: Services, provider: object, model: str | None, options: Mapping[str, Any]
) -> LLM:
    """Returns the LLM of a provider and a model; `options` are those of the program, and of a named LLM."""
    if not isinstance(provider, str | None) or options.get("routing") is not None:
        from .group_creation import create_group

        return create_group(provider, model, services, options, arguments)
    if provider == _AUTO:
        from .group_creation import create_auto

        return create_auto(model, services, options, arguments)
    name, model = _names(provider, model, services.registry)
    chosen = services.registry.provider(name, model)
    known = {*LLM_OPTIONS, *chosen.options}
    names = OptionNames(name, CREATE_OPTIONS)
    names.check(options, known, f"the provider {name!r}", services.registry.capabilities)
    merged, default_url = provider_defaults(name, options, services)
    given = checked_options(merged, services)
    secrets = Secrets(credentials_of(given))
    scrub_logs(secrets)
    session = _session(chosen, model, given, services, secrets, default_url)
    pricing = _pricing(given.get("price"), session, name, services)

    def pipelines(middleware: Sequence[Middleware], create: Callable[[str], LLM]) -> Pipelines:
        connected, media = connections(given, services, session.own_process), media_options(given)
        return Pipelines(name, session, pricing, services, connected, middleware, media, secrets, create)

    settings = partial(_settings_digest, given, session, services)
    limiting = _limiting(given, session, name, services)
    return assembled(
        names, given, known, services, pricing, session.profile, pipelines, arguments, settings, limiting=limiting
    )


def _names(provider: str | None, model: str | None, registry: Registry) -> tuple[str, str | None]:
    """Returns the names of provider and model, from two arguments or from `provider/model` in one.

    The name of the provider may have a typo, which looking it up reports.
    """
    for path, given in (("provider", provider), ("model", model)):
        if given is not None and not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a name, got {type(given).__name__}", path=path)
    if provider is None:
        name, _, rest = (model or "").partition("/")
        providers = registry.providers
        if rest and not rest.endswith(_WEIGHTS) and (name in providers or is_misspelt_provider(name, rest, providers)):
            return name, rest
        return _DEFAULT_PROVIDER, model
    name, slash, rest = provider.partition("/")
    if slash and model is not None:
        raise InvalidInputError(f"two models given, {rest!r} and {model!r}", path="model", hint="Pass only one.")
    return name, rest if slash else model


def _settings_digest(given: Mapping[str, Any], session: ProviderSession, services: Services) -> str:
    """Returns the digest of what answers depend on besides their calls, which have the defaults of the LLM."""
    from .settings_digest import settings_digest

    options = {name: value for name, value in given.items() if name not in DEFAULTS}
    return settings_digest(options, session, services.configuration)


def _limiting(
    given: Mapping[str, Any], session: ProviderSession, provider: str, services: Services
) -> Sequence[Limiting]:
    """Returns what waits for limits, if there are any; raises `InvalidInputError` for invalid ones."""
    if given.get("limits") is None:
        return ()
    from ..limits.accounts import account_of
    from ..limits.limits import checked_limits

    limits = checked_limits(given["limits"])
    account = account_of(provider, session, (given.get("api_key"), given.get("access_token")), given["headers"])
    return (Limiting(limits, account, session.profile, services.usual_sizes),)


def _session(
    provider: Provider,
    model: str | None,
    given: dict[str, Any],
    services: Services,
    secrets: Secrets,
    default_url: str | None,
) -> ProviderSession:
    config = ProviderConfig(
        provider=provider.name,
        model=model,
        base_url=given.get("base_url"),
        api_key=None if callable(given.get("api_key")) else given.get("api_key"),
        options={name: given[name] for name in provider.options if name in given},
        header_names=frozenset(given["headers"]),
        default_url=default_url,
    )
    facts = _facts(given)
    offline = any(getattr(each, "offline", False) is True for each in given.get("middleware", ()))
    with failures_of(f"the provider {provider.name!r} ({services.registry.owner('provider', provider.name)})"):
        try:
            session = _connect(provider, config, facts.services(services) if facts else services, offline, given)
        except Exception as error:
            secrets.error(error)
            raise
    return facts.session(session) if facts else session


def _facts(given: dict[str, Any]) -> FactOverrides | None:
    """Returns the user's facts about the model, None without any."""
    if given.get("facts") is None and given.get("accepts") is None:
        return None
    from .fact_overrides import FactOverrides

    return FactOverrides.given(given.get("facts"), given.get("accepts"))


def _connect(
    provider: Provider, config: ProviderConfig, services: ProviderServices, offline: bool, given: Mapping[str, Any]
) -> ProviderSession:
    """Returns the session; an offline one needs no API key, and cannot send one."""
    if not offline:
        if not callable(given.get("api_key")) and not callable(given.get("access_token")):
            return provider.connect(config, services)
        from .requested_keys import connect_with_function

        return connect_with_function(provider, config, services, given)
    try:
        session = provider.connect(config, services)
    except AuthenticationError:
        session = provider.connect(replace(config, api_key=_NO_KEY), services)
    return replace(session, endpoint=OfflineEndpoint())


def _pricing(price: object, session: ProviderSession, provider: str, services: ProviderServices) -> Pricing:
    """Returns the pricing of a session's model; `price` is the user's: a `Price`, or a price row.

    Raises `InvalidInputError` with the path of an invalid value, and `ConfigurationError` for an invalid catalogue.
    """
    given = session.price if price is None else price
    if given is None:
        return services.catalogue.pricing(provider, session.model) or without_prices(provider, session.model)
    return _given_prices(given, provider, session.model)


def _given_prices(given: object, provider: str, model: str) -> Pricing:
    from ..catalogue import ModelPricing, PriceHeader, read_price_rows
    from ..catalogue.price_values import with_text_for_dates

    row = {"rates": given.rates()} if isinstance(given, Price) else given
    if not isinstance(row, Mapping):
        raise InvalidInputError(
            f"expected a Price, got {type(given).__name__}",
            path="price",
            hint="For example: Price(input=2, output=10).",
        )
    try:
        rows = read_price_rows([with_text_for_dates(cast(object, row), "prices[0]")], PriceHeader(), provider, model)
    except SchemaError as error:
        path = f"price{error.path.removeprefix('prices[0]')}"
        raise InvalidInputError(error.message, path=path, hint=error.hint) from None
    return ModelPricing(provider, model, lambda name: rows)
