"""Creates the LLMs of groups of models, and of `create_llm("auto")`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple, cast

from ..errors import AbstractCoreError, AuthenticationError, InvalidInputError
from ..middleware import AroundAttempts
from ..ports import Middleware, ModelProfile
from ..routing import Member, Routing
from ..routing.router import member_names
from ..schema import CallWarning
from ..schema.base_error import shown
from ..scrubbing import Secrets, credentials_of, scrub_logs
from .assembly import BACKEND_OPTIONS, DEFAULTS, assembled, checked_options, media_options, without_prices
from .create_options import CREATE_OPTIONS, LLM_OPTIONS
from .groups import AUTO, GROUP, ChosenMembers, GroupPipelines
from .llm import LLM, LLMArguments, settings_of
from .option_names import OptionNames
from .option_values import merge_options
from .pipelines import Pipelines
from .services import Services, connections

_PER_MODEL: Final = ("accepts", "api_key", "base_url", "facts", "price")
_log = logging.getLogger("abstractcore")


def create_group(
    provider: object,
    model: str | None,
    services: Services,
    options: Mapping[str, Any],
    arguments: LLMArguments,
) -> LLM:
    """Creates the LLM of a group of models."""
    if isinstance(provider, str | None):
        hint = "Pass several models: create_llm([...], routing=...)."
        raise InvalidInputError("there is one model only", path="routing", hint=hint)
    if model is not None:
        raise InvalidInputError("a group has a list of models only", path="model")
    routing, members = Routing.of(options.get("routing")), checked_members(provider)
    given = _GroupOptions.of(GROUP, "a group of models", options, services)
    create = partial(_create_member, arguments, services)
    llms, owned, warnings = created_members(members, create, _member_options(given.values, members))
    return _group_of(given, group_name(llms), ChosenMembers(llms, owned, routing), services, arguments, warnings)


def create_auto(model: str | None, services: Services, options: Mapping[str, Any], arguments: LLMArguments) -> LLM:
    """Creates the LLM whose model is chosen at its first call."""
    from .automatic import choose

    if model is not None:
        raise InvalidInputError("the model is chosen", path="model", hint="Leave it out, or name its provider.")
    given = _GroupOptions.of(AUTO, "create_llm('auto')", options, services)
    create = partial(_create_member, arguments, services)
    members = cache(partial(choose, services, create, _member_options(given.values, ())))
    return _group_of(given, AUTO, members, services, arguments)


class _GroupOptions(NamedTuple):
    """The checked options of a group."""

    names: OptionNames
    values: dict[str, Any]
    secrets: Secrets

    @classmethod
    def of(cls, provider: str, what: str, options: Mapping[str, Any], services: Services) -> _GroupOptions:
        names = OptionNames(provider, CREATE_OPTIONS)
        check_group_options(options)
        names.check(options, LLM_OPTIONS, what, services.registry.capabilities)
        values = checked_options(merge_options({}, options), services)
        secrets = Secrets(credentials_of(values))
        scrub_logs(secrets)
        return cls(names, values, secrets)


def _create_member(arguments: LLMArguments, services: Services, name: str, options: Mapping[str, Any]) -> LLM:
    return arguments.create(name, services=services, **options)


def _group_of(
    given: _GroupOptions,
    model: str,
    members: ChosenMembers | Callable[[], ChosenMembers],
    services: Services,
    arguments: LLMArguments,
    warnings: Sequence[CallWarning] = (),
) -> LLM:
    names, values, secrets = given
    provider = names.provider
    pricing, profile = without_prices(provider, model), ModelProfile()

    def pipelines(middleware: Sequence[Middleware], create: Callable[[str], LLM]) -> Pipelines:
        connected, media = connections(values, services), media_options(values)
        return GroupPipelines(
            provider, model, members, pricing, services, connected, middleware, media, secrets, create
        )

    def settings() -> str:
        """Returns the digest of what answers of any member depend on besides their calls."""
        from .settings_digest import settings_digest

        chosen = members if isinstance(members, ChosenMembers) else members()
        found = [settings_of(each) for each in chosen.llms]
        return "+".join(settings_digest(each.options, session, services.configuration) for each, session in found)

    return assembled(
        names, values, LLM_OPTIONS, services, pricing, profile, pipelines, arguments, settings, warnings=warnings
    )


def _member_options(given: Mapping[str, Any], members: Sequence[object]) -> dict[str, Any]:
    """Returns the options of a group for the members that it creates: connections, retries, files, and the attempts'
    part of middleware. Defaults of calls and budgets are the group's own.
    """
    own = DEFAULTS | {*BACKEND_OPTIONS, "budgets", "routing", "middleware"}
    chosen = {name: each for name, each in given.items() if name in LLM_OPTIONS - own}
    rings = [AroundAttempts(each) for each in given.get("middleware") or () if hasattr(each, "around_attempt")]
    if rings:
        chosen["middleware"] = rings
    if chosen and any(isinstance(each, LLM) for each in members):
        hint = "Give it to create_llm of that LLM, or list its name."
        what = "a group has no part in the requests of an LLM that was created before"
        raise InvalidInputError(what, path=next(iter(chosen)), hint=hint)
    return chosen


def checked_members(given: object) -> list[object]:
    """Returns the members that `create_llm` was given; raises `InvalidInputError`."""
    if not isinstance(given, list | tuple):
        hint = 'For example create_llm(["openai/gpt-5.4-mini", "local"]).'
        raise InvalidInputError(f"expected a name or a list, got {type(given).__name__}", path="provider", hint=hint)
    members = list(cast("Sequence[object]", given))
    if not members:
        raise InvalidInputError("a group needs at least one model", path="provider")
    llms = [id(each) for each in members if isinstance(each, LLM)]
    if len({*llms}) < len(llms):
        raise InvalidInputError("an LLM is listed twice", path="provider")
    for index, each in enumerate(members):
        if isinstance(each, Mapping):
            members[index] = Member.of(cast("Mapping[str, Any]", each), f"provider[{index}]")
        elif isinstance(each, LLM):
            _check_no_group(each, index)
        elif not isinstance(each, str | Member):
            what = f"expected the name of a model, a Member or an LLM, got {shown(each)}"
            raise InvalidInputError(what, path=f"provider[{index}]")
    return members


def _check_no_group(llm: LLM, index: int) -> None:
    if llm.provider in (GROUP, AUTO):
        hint = "List the members of that group instead."
        raise InvalidInputError("a group cannot be a member of another group", path=f"provider[{index}]", hint=hint)


def group_name(llms: Sequence[LLM]) -> str:
    """Returns the name of a group, which its calls as data have for that of a model."""
    return ",".join(member_names(llms))


def check_group_options(options: Mapping[str, Any]) -> None:
    """Raises `InvalidInputError` for an option of one model."""
    for name in _PER_MODEL:
        if options.get(name) is not None:
            hint = f'Give it to a member: Member("openai/gpt-5.4", {"key" if name == "api_key" else name}=...).'
            raise InvalidInputError("a group of models has no such option", path=name, hint=hint)


def created_members(
    given: Sequence[object], create: Callable[[str, Mapping[str, Any]], LLM], options: Mapping[str, Any]
) -> tuple[list[LLM], list[LLM], list[CallWarning]]:
    """Returns the members, those of them that were created here, and a warning for each that has no key.

    Raises `AuthenticationError` if none has one, and the errors of `create_llm`.
    """
    members: list[LLM] = []
    owned: list[LLM] = []
    failures: list[AbstractCoreError] = []
    warnings: list[CallWarning] = []
    for index, each in enumerate(given):
        if isinstance(each, LLM):
            members.append(each)
            continue
        member = each if isinstance(each, Member) else Member(cast(str, each))
        try:
            llm = create(member.model, {**options, **member.create_options()})
            _check_no_group(llm, index)
        except AuthenticationError as error:
            failures.append(error)
            why = f"{member.model} is left out of the group: {error}"
            warnings.append(CallWarning("member_skipped", "model", why))
            _log.warning("%s", why)
            continue
        members.append(llm)
        owned.append(llm)
    if not members:
        shown_failures = "; ".join(str(error) for error in failures)
        raise AuthenticationError(f"no member of the group has a key: {shown_failures}")
    return members, owned, warnings
