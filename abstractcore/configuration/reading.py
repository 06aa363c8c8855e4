"""Reads the user's `config.toml`: what is wrong is an error with its line and column."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ..budgets import Budget
from ..catalogue import read_document, read_toml
from ..errors import InvalidInputError
from ..files.media_kinds import MEDIA_KINDS, media_history
from ..files.policies import check_policies
from ..limits import Limits
from ..ports import MediaHandler
from ..registry import did_you_mean, nearest_names
from ..routing import Routing
from ..schema import MediaHistory, MediaKind
from ..schema.base_error import one_line, shown
from ..scrubbing import is_sensitive
from .settings import (
    Configuration,
    ConfiguredAuto,
    ConfiguredBudget,
    ConfiguredLimits,
    ConfiguredLLM,
    ConfiguredProvider,
    ConfiguredRouting,
)
from .tables import Problems, Table

_POLICY = "media_policy"
_HISTORY = "media_history"
_LLMS = "llm"
_PROVIDERS = "providers"
_AUTO = "auto"
_BUDGET = "budget"
_LIMITS = "limits"
_ROUTING = "routing"
_TABLES_OF_LLMS = (_BUDGET, _LIMITS, _ROUTING)
SETTINGS = (_POLICY, _HISTORY, _LLMS, _PROVIDERS, _AUTO)
"""The names at the top of the file."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
T = TypeVar("T")


def read_configuration(path: Path, handlers: Sequence[MediaHandler], providers: Collection[str]) -> Configuration:
    """Returns the configuration of a file; `providers` are the names that are known.

    Raises `ConfigurationError` with the file, line and column of everything that is wrong.
    """
    document = read_document(path)
    root = Table(document, read_toml(document))
    problems = Problems()
    with problems.collect():
        root.check_names(SETTINGS, "setting")
    policies: Mapping[MediaKind, str] = {}
    with problems.collect():
        policies = _policies(root.table(_POLICY), handlers)
    histories: Mapping[MediaKind, MediaHistory] = {}
    with problems.collect():
        histories = _histories(root)
    llms = _read_all(root, _LLMS, lambda name, table: _llm(name, table, providers), problems)
    with problems.collect():
        _check_references(root, llms)
    found = _read_all(root, _PROVIDERS, lambda name, table: _provider(name, table, providers), problems)
    auto = ConfiguredAuto()
    with problems.collect():
        auto = root.table(_AUTO).read(ConfiguredAuto)
        _check_auto(root.table(_AUTO), auto, llms, providers)
    problems.check()
    return Configuration(policies, histories, llms, found, auto, document)


def _read_all(root: Table, name: str, read: Callable[[str, Table], T], problems: Problems) -> dict[str, T]:
    """Returns the result of `read` for each table of a table, by name."""
    found: dict[str, T] = {}
    with problems.collect():
        for each, table in root.table(name).tables().items():
            with problems.collect():
                found[each] = read(each, table)
    return found


def _policies(table: Table, handlers: Sequence[MediaHandler]) -> Mapping[MediaKind, str]:
    problems = Problems()
    for kind, policy in table.values.items():
        with problems.collect():
            try:
                check_policy(kind, policy, handlers)
            except InvalidInputError as error:
                raise table.error(_without_path(error), kind, hint=error.hint) from None
    problems.check()
    return cast("Mapping[MediaKind, str]", table.values)


def _histories(root: Table) -> Mapping[MediaKind, MediaHistory]:
    try:
        return cast("Mapping[MediaKind, MediaHistory]", media_history(root.values.get(_HISTORY, {})))
    except InvalidInputError as error:
        raise root.error(_without_path(error), *(error.path or _HISTORY).split("."), hint=error.hint) from None


def _without_path(error: InvalidInputError) -> str:
    return error.message.removeprefix(f"{error.path}: ")


def check_policy(kind: str, policy: object, handlers: Sequence[MediaHandler]) -> None:
    """Raises `InvalidInputError` for a configured policy that no kind of file has."""
    path = f"{_POLICY}.{kind}"
    if kind not in MEDIA_KINDS:
        raise InvalidInputError(f"unknown kind: use {', '.join(MEDIA_KINDS)}", path=path)
    if not isinstance(policy, str):
        raise InvalidInputError(f"expected the name of a policy, got {shown(policy)}", path=path)
    check_policies({kind: policy}, handlers)


def _llm(name: str, table: Table, providers: Collection[str]) -> ConfiguredLLM:
    if not _NAME.fullmatch(name):
        hint = "It is 1 to 100 letters, digits, '.', '_' and '-'; the first one is a letter or a digit."
        raise table.error("it cannot be the name of an LLM", hint=hint)
    if name in providers or name == _AUTO:
        what = "it is the name of a provider" if name in providers else "create_llm('auto') chooses a model itself"
        raise table.error(what, hint=f"Choose another name, as in [llm.my-{name}].")
    settings = _without(table, _TABLES_OF_LLMS).read(ConfiguredLLM)
    if settings.models and (settings.model or settings.provider):
        raise table.error("expected either model or models", "models", hint="Write PROVIDER/MODEL for each of them.")
    if not settings.models and settings.model is None and settings.provider is None:
        raise table.error("`model` is required", "model", hint='For example: model = "openai/gpt-5.4".')
    if _ROUTING in table.values and not settings.models:
        hint = 'For example: models = ["openai/gpt-5.4", "local"].'
        raise table.error("it is for several models", _ROUTING, hint=hint)
    if _BUDGET in table.values:
        settings = replace(settings, budget=_budget(name, table.table(_BUDGET)))
    if _LIMITS in table.values:
        settings = replace(settings, limits=_limits(f"llm.{name}", table.table(_LIMITS)))
    if _ROUTING in table.values:
        settings = replace(settings, routing=read_routing(table.table(_ROUTING)))
    _refuse_secrets(table, settings.options, "options")
    return settings


def _without(table: Table, names: Collection[str]) -> Table:
    values = {key: value for key, value in table.values.items() if key not in names}
    return Table(table.document, values, table.path)


def _budget(name: str, table: Table) -> Budget:
    settings = table.read(ConfiguredBudget)
    on_exceeded = "raise" if settings.on_exceeded is None else settings.on_exceeded
    given: dict[str, Any] = {**_values(settings), "on_exceeded": on_exceeded, "name": f"llm.{name}"}
    return _made(lambda: Budget(**given), table)


def _limits(name: str, table: Table) -> Limits:
    settings = table.read(ConfiguredLimits)
    return _made(lambda: Limits(**_values(settings), name=name), table)


def read_routing(table: Table) -> Routing:
    """Returns how a group of models shares its calls; raises `ConfigurationError`."""
    settings = table.read(ConfiguredRouting)
    given: dict[str, Any] = {**_values(settings), "sticky": "session" if settings.sticky else None}
    return _made(lambda: Routing(**given), table)


def _values(settings: Any) -> dict[str, Any]:
    return {each.name: getattr(settings, each.name) for each in fields(settings)}


def _made(make: Callable[[], T], table: Table) -> T:
    """Returns what is made of a table; an invalid value is an error with its line."""
    try:
        return make()
    except InvalidInputError as error:
        names = (error.path or "").removeprefix(f"{table.path[-1]}.").partition("[")[0]
        raise table.error(_without_path(error), *filter(None, names.split(".")), hint=error.hint) from None


def _provider(name: str, table: Table, providers: Collection[str]) -> ConfiguredProvider:
    if name not in providers:
        raise Table(table.document, {}, table.path[:-1]).unknown(name, providers, "provider")
    settings = _without(table, (_LIMITS,)).read(ConfiguredProvider)
    if settings.api_key_env is not None and settings.api_key_command:
        raise table.error("expected either api_key_env or api_key_command", "api_key_command")
    if settings.api_key_env is not None and not _VARIABLE.fullmatch(settings.api_key_env):
        hint = 'For example: api_key_env = "MY_KEY". The key itself is not allowed in this file.'
        raise table.error("expected the name of a variable of the environment", "api_key_env", hint=hint)
    if "api_key_command" in table.values:
        settings = replace(settings, api_key_command=_command(table))
    if _LIMITS in table.values:
        settings = replace(settings, limits=_limits(f"providers.{name}", table.table(_LIMITS)))
    _refuse_secrets(table, settings.options, "options")
    _refuse_secrets(table, settings.headers, "headers")
    for header, value in settings.headers.items():
        if not isinstance(value, str):
            raise table.error(f"expected a string, got {shown(value)}", "headers", header)
    return settings


def _command(table: Table) -> tuple[str, ...]:
    """Returns the arguments of the command of a provider, which is a text or a list of them."""
    name, given = "api_key_command", table.values["api_key_command"]
    try:
        command = shlex.split(given) if isinstance(given, str) else [*given]
    except ValueError as error:
        raise table.error(f"it cannot be read: {one_line(str(error))}", name) from None
    if not command or not command[0]:
        raise table.error("expected a command", name, hint='For example: api_key_command = "pass show openai".')
    return tuple(command)


def _refuse_secrets(table: Table, values: Mapping[str, Any], name: str) -> None:
    """Raises `ConfigurationError` for a value that is a credential by its name: files are copied and shared."""
    for key, value in values.items():
        if is_sensitive(key) and isinstance(value, str | dict):
            hint = "Name the variable that holds the key: api_key_env in the table of the provider."
            raise table.error("secrets are not allowed in this file", name, key, hint=hint)


def _check_auto(
    table: Table, auto: ConfiguredAuto, llms: Mapping[str, ConfiguredLLM], providers: Collection[str]
) -> None:
    """Raises `ConfigurationError` for a model that is neither a named LLM nor one of a provider."""
    for each in auto.models:
        name, slash, _ = each.partition("/")
        known = providers if slash else [*llms, *providers]
        if name not in known:
            near = nearest_names(name[:100], known)
            what = "provider" if slash else "named LLM, and no provider"
            hint = did_you_mean(near) if near else 'Write "PROVIDER/MODEL", or the name of a table [llm.NAME].'
            raise table.error(f"there is no such {what}: {shown(name)}", "models", hint=hint)


def _check_references(root: Table, llms: Mapping[str, ConfiguredLLM]) -> None:
    """Raises `ConfigurationError` for names of LLMs that lead back to themselves, and for groups in a group."""
    table = root.table(_LLMS)
    key_of = {name: "models" if each.models else "model" for name, each in llms.items()}

    def check(name: str, seen: tuple[str, ...]) -> None:
        settings = llms.get(name)
        if settings is None or settings.provider is not None:
            return
        for each in settings.models or filter(None, (settings.model,)):
            if each in seen:
                circle = " -> ".join([*seen, each])
                raise table.error(f"the names lead in a circle: {circle}", seen[0], key_of[seen[0]])
            check(each, (*seen, each))

    def is_group(name: str | None) -> bool:
        settings = llms.get(name or "")
        return name == _AUTO or (settings is not None and (bool(settings.models) or is_group(settings.model)))

    for name, settings in llms.items():
        check(name, (name,))
        group = next(filter(is_group, settings.models), None)
        if group is not None:
            hint = "List the models of that group instead."
            raise table.error(f"a group cannot be a member of another group: {shown(group)}", name, "models", hint=hint)
