"""Reads the configuration: one TOML file, and the environment over it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from abstractcore.catalogue import Document, read_document, read_toml
from abstractcore.errors import ConfigurationError

from .access import check_key
from .limits import Limits
from .problems import Problems
from .server_files import check_files
from .settings import GuardSettings, ModelSettings, ProviderSettings, ServerSettings, Settings
from .tables import Table, from_environment
from .tools.settings import MCPSettings

CONFIG_VARIABLE = "ABSTRACTCORE_SERVER_CONFIG"
_SERVER_PREFIX = "ABSTRACTCORE_SERVER"
_LIMITS_PREFIX = "ABSTRACTCORE_SERVER_LIMITS"
_TABLES = ("server", "limits", "providers", "models", "guards", "mcp")
_SECRETS = ("api_key", "access_token", "credentials")
_EMPTY = Document("the environment", "")
_UNSET_KEYS = "none of these variables of the environment is set, so that no key would be needed"
T = TypeVar("T")
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s?#@*]+")


def read_settings(file: str | None, environment: Mapping[str, str], given: Mapping[str, Any] | None = None) -> Settings:
    """Returns the settings of a file, by default the one that `ABSTRACTCORE_SERVER_CONFIG` names, if any; with the
    values of the environment over it (`ABSTRACTCORE_SERVER_PORT`, `ABSTRACTCORE_SERVER_LIMITS_BODY_BYTES`), and `given`
    values of `[server]` over these.

    Raises `ConfigurationError` for all that is wrong, with the file, line and column.
    """
    path = file or environment.get(CONFIG_VARIABLE)
    document = read_document(Path(path)) if path else _EMPTY
    root = Table(document, read_toml(document))
    problems = Problems()
    with problems.collected():
        _check_tables(root)
    server = _overridden(root, "server", ServerSettings, _SERVER_PREFIX, environment, problems)
    server = replace(server, **(given or {}))
    limits = _overridden(root, "limits", Limits, _LIMITS_PREFIX, environment, problems)
    providers = _read_all(root, "providers", _provider, problems)
    models = _read_all(root, "models", _model, problems)
    guards = _read_all(root, "guards", _guard, problems)
    mcp = _read_all(root, "mcp", _mcp_server, problems)
    settings = Settings(
        server, limits, providers, models, guards, mcp, _keys(server, environment), document if path else None
    )
    problems.check()
    if not settings.keys and server.keys_env and _names_keys(root, environment):
        hint = "Set one, or remove keys_env."
        problems.add(settings.error(_UNSET_KEYS, "server", "keys_env", hint=hint))
    with problems.collected():
        _check_hosts(settings)
    with problems.collected():
        _check_origins(settings)
    with problems.collected():
        check_files(settings)
    problems.check()
    return settings


def unknown_variables(environment: Mapping[str, str], settings: Settings) -> list[str]:
    """Returns the variables that have the prefix of settings but are not settings, so that they change nothing."""
    limits = {f"{_LIMITS_PREFIX}_{each.name.upper()}" for each in fields(Limits)}
    known = {f"{_SERVER_PREFIX}_{each.name.upper()}" for each in fields(ServerSettings)} | limits
    known |= {CONFIG_VARIABLE, *ServerSettings().keys_env, *settings.server.keys_env}
    return sorted(name for name in environment if name.startswith(f"{_SERVER_PREFIX}_") and name not in known)


def _check_tables(root: Table) -> None:
    """Raises `ConfigurationError` for a name that is not a table."""
    for name in root.values:
        if name in {each.name for each in fields(ServerSettings)}:
            raise root.error("a setting outside of a table", name, hint="Write it below a line [server].")
    root.check_names(_TABLES, "table")


def _overridden(
    root: Table, name: str, cls: type[T], prefix: str, environment: Mapping[str, str], problems: Problems
) -> T:
    """Returns a table with the values of the environment over it, and the defaults if something is wrong."""
    read: Any = cls()
    with problems.collected():
        read = root.table(name).read(cls)
    with problems.collected():
        return replace(read, **_checked(cls, prefix, environment))
    return read


def _checked(cls: type[Any], prefix: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the values of the environment, checked as those of a file are."""
    problems = Problems()
    checked: dict[str, Any] = {}
    for name, value in from_environment(cls, prefix, environment).items():
        try:
            checked[name] = getattr(Table(_EMPTY, {name: value}).read(cls), name)
        except ConfigurationError as error:
            problem = error.message.partition(f"{name}: ")[2]
            problems.add(ConfigurationError(f"{prefix}_{name.upper()}: {problem}", hint=error.hint))
    problems.check()
    return checked


def _read_all(root: Table, name: str, read: Callable[[str, Table], T], problems: Problems) -> dict[str, T]:
    """Returns what `read` makes of each table of a table, by name."""
    found: dict[str, T] = {}
    with problems.collected():
        for each, table in root.table(name).tables().items():
            with problems.collected():
                found[each] = read(each, table)
    return found


def _provider(name: str, table: Table) -> ProviderSettings:
    settings = table.read(ProviderSettings)
    _refuse_secrets(table, settings.options, 'Name the variable that holds the key: api_key_env = "NAME".')
    return settings


def _model(name: str, table: Table) -> ModelSettings:
    settings = table.read(ModelSettings)
    if not settings.models:
        raise table.error("expected at least one model", "models")
    return settings


def _guard(name: str, table: Table) -> GuardSettings:
    settings = table.read(GuardSettings)
    hint = 'Name the variable that holds it, if the guard has such an option: options.api_key_env = "NAME".'
    _refuse_secrets(table, settings.options, hint)
    return settings


def _refuse_secrets(table: Table, options: Mapping[str, Any], hint: str) -> None:
    for name in _SECRETS:
        if name in options:
            raise table.error("secrets are not allowed in this file", "options", name, hint=hint)


def _mcp_server(name: str, table: Table) -> MCPSettings:
    if not _LABEL.fullmatch(name):
        hint = "Clients name it: 1 to 40 letters, digits, '_' and '-', the first one a letter."
        raise table.error("it cannot be the name of an MCP server", hint=hint)
    settings = table.read(MCPSettings)
    problem = settings.problem()
    if problem is not None:
        raise table.error(problem.message, *problem.names, hint=problem.hint)
    return settings


def _check_hosts(settings: Settings) -> None:
    for host in settings.server.hosts:
        if "/" in host:
            hint = "Write the name alone, as in llm.example.com."
            raise settings.error(f"expected a name, got {host[:200]!r}", "server", "hosts", hint=hint)


def _check_origins(settings: Settings) -> None:
    for origin in settings.server.origins:
        if not _ORIGIN.fullmatch(origin):
            hint = "Write scheme, name, and a port that is not the usual one, as in https://app.example.com."
            raise settings.error(f"expected an origin, got {origin[:200]!r}", "server", "origins", hint=hint)


def _keys(server: ServerSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the keys of the environment; raises `InvalidInputError` for an invalid one."""
    keys = {name: environment[name].strip() for name in server.keys_env if environment.get(name, "").strip()}
    for name, key in keys.items():
        check_key(key, name)
    return tuple(keys.values())


def _names_keys(root: Table, environment: Mapping[str, str]) -> bool:
    """Whether the configuration itself names the variables of keys."""
    return "keys_env" in root.table("server").values or f"{_SERVER_PREFIX}_KEYS_ENV" in environment
