"""Assembles an LLM of checked options: its middleware, its defaults and its capabilities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInputError
from ..middleware import Budgeting, Deadline, Retry, SpendingBeside, Tracing, UserMiddleware
from ..ports import CAPABILITIES, Answer, CallContext, DependsOnSettings, Middleware, ModelProfile, Pricing
from ..schema import CallWarning
from ..schema.base_error import shown
from .llm import LLM, LLMArguments
from .option_names import OptionNames
from .option_values import at_least_zero, check_options, extra_headers, frozen_option, media_policy, seconds
from .options import CALL_OPTIONS
from .pipelines import Pipelines
from .preparing import RequestPreparer
from .services import Services

if TYPE_CHECKING:
    from ..budgets import Budget
    from .llm_capabilities import LLMCapabilities

_DEFAULT_RETRIES = 2
DEFAULTS = CALL_OPTIONS | {"system_prompt"}
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
BACKEND_OPTIONS = tuple(f"{name}_backend" for name in CAPABILITIES)
_TEXT_OPTIONS = (*BACKEND_OPTIONS, "base_url", "proxy", "transcription_language")


def checked_options(given: dict[str, Any], services: Services) -> dict[str, Any]:
    """Returns the merged options of `create_llm`, with headers as they are sent; raises errors for invalid ones."""
    _check_defaults(given)
    if _is_set(given.get("transcription_model")):
        from .auxiliary_models import is_of_provider

        is_of_provider(given["transcription_model"], services.registry)
    if given.get("media_policy") is not None:
        from ..files.policies import check_policies

        check_policies(media_policy(given["media_policy"]), services.registry.media_handlers)
    given["headers"] = extra_headers(given.get("headers"))
    return given


def media_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options for files."""
    return {name: given[name] for name in _MEDIA_OPTIONS if _is_set(given.get(name))}


def assembled(
    names: OptionNames,
    given: dict[str, Any],
    known: Collection[str],
    services: Services,
    pricing: Pricing,
    profile: ModelProfile,
    new_pipelines: Callable[[Sequence[Middleware], Callable[[str], LLM]], Pipelines],
    arguments: LLMArguments,
    settings: Callable[[], str],
    *,
    limiting: Sequence[Middleware] = (),
    warnings: Sequence[CallWarning] = (),
) -> LLM:
    """Returns the LLM of checked options: its middleware, its defaults and its capabilities."""
    retries = given.get("max_retries", _DEFAULT_RETRIES)
    for subscriber in services.registry.trace_subscribers:
        services.records.add(subscriber)
    services.keep_traces()

    def create(model: str) -> LLM:
        return arguments.create(model, services=services)

    async def substitute(context: CallContext, model: object) -> Answer:
        from .substitutes import make_by

        return await make_by(model, context, create, sync=context.runtime is services.sync_runtime)

    budgeting = Budgeting(_budgets(given), pricing, profile, services.usual_sizes, substitute)
    user_middleware = _user_middleware(given.get("middleware", ()), settings)
    middleware = (
        Tracing(partial(services.records.listener, pricing)),
        Retry(retries, services.random),
        *limiting,
        Deadline(),
        *([SpendingBeside(budgeting)] if user_middleware else ()),
        *user_middleware,
        budgeting,
    )
    pipelines = new_pipelines(middleware, create)
    if _is_set(given.get("embed_cache")):
        from ..embeddings.caching import checked_cache

        pipelines.embed_cache = checked_cache(given["embed_cache"])
    defaults = {key: frozen_option(value) for key, value in given.items() if key in DEFAULTS}
    others = {key: value for key, value in given.items() if key not in known or key in BACKEND_OPTIONS}
    unused = [key for key in others if not services.registry.uses_option(key)]
    preparer = RequestPreparer(names, pipelines, defaults, unused, warnings)

    def capabilities(llm: LLM) -> LLMCapabilities:
        from .llm_capabilities import LLMCapabilities

        return LLMCapabilities(llm, pipelines, preparer, create, others, retries)

    return LLM(names.provider, pipelines, preparer, capabilities, arguments)


def _is_set(value: object) -> bool:
    return value is not None and value is not False


def _check_defaults(given: dict[str, Any]) -> None:
    """Raises errors for invalid defaults when the LLM is created, not at the first call."""
    if not DEFAULTS.isdisjoint(given):
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


def _budgets(given: Mapping[str, Any]) -> Sequence[Budget]:
    if given.get("budgets") is None:
        return ()
    from ..budgets.budget import checked_budgets

    return checked_budgets(given["budgets"])


def without_prices(provider: str, model: str) -> Pricing:
    """Returns the pricing of a model whose prices are unknown."""
    from ..catalogue import ModelPricing

    return ModelPricing(provider, model, lambda name: ())
