"""`create_llm`: creates an `LLM` from a provider's name and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from ..errors import AuthenticationError, InvalidInputError, SchemaError
from ..middleware import Budgeting, Deadline, Limiting, OfflineEndpoint, Retry, Tracing, UserMiddleware
from ..option_help import takes
from ..ports import (
    CAPABILITIES,
    Answer,
    CallContext,
    DependsOnSettings,
    Price,
    Pricing,
    Provider,
    ProviderConfig,
    ProviderServices,
    ProviderSession,
)
from ..registry import failures_of, is_misspelt_provider
from ..schema.base_error import shown
from ..scrubbing import Secrets, credentials_of, scrub_logs
from .configured import create_as_configured, provider_defaults
from .create_options import CREATE_OPTIONS, LLM_OPTIONS, CreateOptions
from .llm import LLM, LLMArguments
from .option_names import OptionNames
from .option_values import (
    at_least_zero,
    check_options,
    extra_headers,
    frozen_option,
    media_policy,
    seconds,
)
from .options import CALL_OPTIONS
from .pipelines import Pipelines
from .preparing import RequestPreparer
from .services import Services, connections, default_services

if TYPE_CHECKING:
    from ..budgets import Budget
    from ..registry import Registry
    from .fact_overrides import FactOverrides
    from .llm_capabilities import LLMCapabilities

_DEFAULT_PROVIDER = "local"
_DEFAULT_RETRIES = 2
_WEIGHTS = ".gguf"
"""The end of a path of weights, which the default provider reads: "local/x.gguf" is a file in a folder."""
_NO_KEY = "no-key-is-needed"
_DEFAULTS = CALL_OPTIONS | {"system_prompt"}
"""The options of `create_llm` that are defaults for every call."""
_MEDIA_OPTIONS = (
    "glyphs",
    "transcription_isolated",
    "transcription_language",
    "transcription_model",
    "transcription_speakers",
    "transcription_terms",
    "transcription_words",
    "video_contact_sheets",
    "video_frames",
    "vision_model",
)
_BACKEND_OPTIONS = tuple(f"{name}_backend" for name in CAPABILITIES)
_TEXT_OPTIONS = (*_BACKEND_OPTIONS, "base_url", "proxy", "transcription_language")


@takes(CreateOptions)
def create_llm(
    provider: str | None = None,
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
    """
    arguments = LLMArguments(create_llm, provider, model, services, options)
    if services is None:
        services = default_services()
    elif not isinstance(services, Services):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected Services, got {type(services).__name__}", path="services")
    services.check_media_policy()
    return create_as_configured(partial(_create, arguments, services), provider, model, options, services)


def _create(
    arguments: LLMArguments, services: Services, provider: str | None, model: str | None, options: Mapping[str, Any]
) -> LLM:
    """Returns the LLM of a provider and a model; `options` are those of the program, and of a named LLM."""
    name, model = _names(provider, model, services.registry)
    chosen = services.registry.provider(name, model)
    known = {*LLM_OPTIONS, *chosen.options}
    names = OptionNames(name, CREATE_OPTIONS)
    names.check(options, known, f"the provider {name!r}", services.registry.capabilities)
    given, default_url = provider_defaults(name, options, services)
    _check_defaults(given)
    if _is_set(given.get("transcription_model")):
        from .auxiliary_models import is_of_provider

        is_of_provider(given["transcription_model"], services.registry)
    if given.get("media_policy") is not None:
        from ..files.policies import check_policies

        check_policies(media_policy(given["media_policy"]), services.registry.media_handlers)
    given["headers"] = extra_headers(given.get("headers"))
    secrets = Secrets(credentials_of(given))
    scrub_logs(secrets)
    session = _session(chosen, model, given, services, secrets, default_url)
    retries = given.get("max_retries", _DEFAULT_RETRIES)
    for subscriber in services.registry.trace_subscribers:
        services.records.add(subscriber)
    services.keep_traces()
    pricing = _pricing(given.get("price"), session, name, services)
    tracing = Tracing(partial(services.records.listener, pricing))

    def create(model: str) -> LLM:
        return create_llm(model, services=services)

    async def substitute(context: CallContext, model: object) -> Answer:
        from .substitutes import make_by

        return await make_by(model, context, create, sync=context.runtime is services.sync_runtime)

    middleware = (
        tracing,
        Retry(retries, services.random),
        *_limiting(given, session, name, services),
        Deadline(),
        *_user_middleware(given.get("middleware", ()), partial(_settings_digest, given, session, services)),
        Budgeting(_budgets(given), pricing, session.profile, services.usual_sizes, substitute),
    )

    pipelines = Pipelines(
        session,
        pricing,
        services,
        connections(given, services, session.own_process),
        middleware,
        {name: given[name] for name in _MEDIA_OPTIONS if _is_set(given.get(name))},
        secrets,
        create,
    )
    defaults = {key: frozen_option(value) for key, value in given.items() if key in _DEFAULTS}
    others = {key: value for key, value in given.items() if key not in known or key in _BACKEND_OPTIONS}
    unused = [key for key in others if not services.registry.uses_option(key)]
    preparer = RequestPreparer(names, pipelines, defaults, unused)

    def capabilities(llm: LLM) -> LLMCapabilities:
        from .llm_capabilities import LLMCapabilities

        return LLMCapabilities(llm, pipelines, preparer, create, others, retries)

    return LLM(name, pipelines, preparer, capabilities, arguments)


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


def _is_set(value: object) -> bool:
    return value is not None and value is not False


def _check_defaults(given: dict[str, Any]) -> None:
    """Raises errors for invalid defaults when the LLM is created, not at the first call."""
    if not _DEFAULTS.isdisjoint(given):
        check_options(given)
    for name in _TEXT_OPTIONS:
        if not isinstance(given.get(name, ""), str):
            raise InvalidInputError(f"expected text, got {type(given[name]).__name__}", path=name)
    if not isinstance(given.get("api_key", ""), str) and not callable(given["api_key"]):
        problem = f"expected text or a function, got {type(given['api_key']).__name__}"
        raise InvalidInputError(problem, path="api_key")
    for name in ("vision_model", "transcription_model"):
        if not isinstance(given.get(name, ""), str | LLM):
            found = type(given[name]).__name__
            raise InvalidInputError(f"expected an LLM or the name of a model, got {found}", path=name)
    if not isinstance(given.get("glyphs", False), bool):
        raise InvalidInputError(f"expected True or False, got {shown(given['glyphs'])}", path="glyphs")
    if not isinstance(given.get("middleware", ()), list | tuple):
        raise InvalidInputError(f"expected a list, got {type(given['middleware']).__name__}", path="middleware")
    seconds(given.get("timeout"), "timeout")
    at_least_zero(given.get("max_retries", 0), "max_retries")


def _user_middleware(middleware: Sequence[object], settings: Callable[[], str]) -> list[Any]:
    """Returns the wrapped middleware; a cache is notified of the settings that answers depend on."""
    settings = cache(settings)
    wrapped: list[Any] = []
    for index, each in enumerate(middleware):
        if isinstance(each, DependsOnSettings) and not isinstance(each, type):
            each = each.for_settings(settings)
        wrapped.append(UserMiddleware(each, f"middleware[{index}]"))
    return wrapped


def _settings_digest(given: Mapping[str, Any], session: ProviderSession, services: Services) -> str:
    """Returns the digest of what answers depend on besides their calls, which have the defaults of the LLM."""
    from .settings_digest import settings_digest

    options = {name: value for name, value in given.items() if name not in _DEFAULTS}
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


def _budgets(given: Mapping[str, Any]) -> Sequence[Budget]:
    if given.get("budgets") is None:
        return ()
    from ..budgets.budget import checked_budgets

    return checked_budgets(given["budgets"])


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
        return services.catalogue.pricing(provider, session.model) or _without_prices(provider, session.model)
    return _given_prices(given, provider, session.model)


def _without_prices(provider: str, model: str) -> Pricing:
    from ..catalogue import ModelPricing

    return ModelPricing(provider, model, lambda name: ())


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
