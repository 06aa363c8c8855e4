"""Creates the LLMs of groups of models, and of `create_llm("auto")`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, cast

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
    names = OptionNames(GROUP, CREATE_OPTIONS)
    check_group_options(options)
    names.check(options, LLM_OPTIONS, "a group of models", services.registry.capabilities)
    given = checked_options(merge_options({}, options), services)
    secrets = Secrets(credentials_of(given))
    scrub_logs(secrets)

    def create(name: str, **more: Any) -> LLM:
        return arguments.create(name, services=services, **more)

    llms, owned, warnings = created_members(members, create, _member_options(given, members))

    chosen = ChosenMembers(llms, owned, routing)
    return _group_of(GROUP, group_name(llms), chosen, names, given, services, secrets, arguments, warnings)


def create_auto(model: str | None, services: Services, options: Mapping[str, Any], arguments: LLMArguments) -> LLM:
    """Creates the LLM whose model is chosen at its first call."""
    from .automatic import choose

    if model is not None:
        raise InvalidInputError("the model is chosen", path="model", hint="Leave it out, or name its provider.")
    names = OptionNames(AUTO, CREATE_OPTIONS)
    check_group_options(options)
    names.check(options, LLM_OPTIONS, "create_llm('auto')", services.registry.capabilities)
    given = checked_options(merge_options({}, options), services)
    secrets = Secrets(credentials_of(given))
    scrub_logs(secrets)

    def create(name: str, **more: Any) -> LLM:
        return arguments.create(name, services=services, **more)

    members = cache(partial(choose, services, create, _member_options(given, ())))
    return _group_of(AUTO, AUTO, members, names, given, services, secrets, arguments)


def _group_of(
    provider: str,
    model: str,
    members: ChosenMembers | Callable[[], ChosenMembers],
    names: OptionNames,
    given: dict[str, Any],
    services: Services,
    secrets: Secrets,
    arguments: LLMArguments,
    warnings: Sequence[CallWarning] = (),
) -> LLM:
    pricing, profile = without_prices(provider, model), ModelProfile()

    def pipelines(middleware: Sequence[Middleware], create: Callable[[str], LLM]) -> Pipelines:
        connected, media = connections(given, services), media_options(given)
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
        names, given, LLM_OPTIONS, services, pricing, profile, pipelines, arguments, settings, warnings=warnings
    )


def _member_options(given: Mapping[str, Any], members: Sequence[object]) -> dict[str, Any]:
    """Returns the options of a group for the members that it creates: connections, retries, files, and the attempts'
    part of middleware. Defaults of calls and budgets are the group's own.
    """
    chosen = {name: each for name, each in given.items() if name in LLM_OPTIONS - DEFAULTS - {*BACKEND_OPTIONS}}
    for name in ("budgets", "routing"):
        chosen.pop(name, None)
    rings = [each for each in chosen.pop("middleware", ()) if hasattr(each, "around_attempt")]
    if rings and any(isinstance(each, LLM) for each in members):
        hint = "Give the middleware to create_llm of that LLM, or list its name."
        what = "a group has no part in the attempts of an LLM that was created before"
        raise InvalidInputError(what, path="middleware", hint=hint)
    return {**chosen, "middleware": [AroundAttempts(each) for each in rings]} if rings else chosen


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
        path = f"provider[{index}]"
        if isinstance(each, Mapping):
            members[index] = Member.of(cast("Mapping[str, Any]", each), path)
        elif isinstance(each, LLM):
            if len(each.members) > 1 or each.provider in (GROUP, "auto"):
                hint = "List the members of that group instead."
                raise InvalidInputError("a group is no member of another one", path=path, hint=hint)
        elif not isinstance(each, str | Member):
            what = f"expected the name of a model, a Member or an LLM, got {shown(each)}"
            raise InvalidInputError(what, path=path)
    return members


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
    given: Sequence[object], create: Callable[..., LLM], options: Mapping[str, Any]
) -> tuple[list[LLM], list[LLM], list[CallWarning]]:
    """Returns the members, those of them that were created here, and a warning for each that has no key.

    Raises `AuthenticationError` if none has one, and the errors of `create_llm`.
    """
    members: list[LLM] = []
    owned: list[LLM] = []
    failures: list[AbstractCoreError] = []
    warnings: list[CallWarning] = []
    for each in given:
        if isinstance(each, LLM):
            members.append(each)
            continue
        member = each if isinstance(each, Member) else Member(cast(str, each))
        try:
            llm = create(member.model, **{**options, **member.create_options()})
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
