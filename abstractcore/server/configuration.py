"""Reads the configuration: one TOML file, and the environment over it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..catalogue.documents import Document, read_document
from ..catalogue.toml_documents import read_toml
from ..errors import ConfigurationError
from .access import check_key
from .limits import Limits
from .settings import GuardSettings, ModelSettings, ProviderSettings, ServerSettings, Settings
from .tables import Table, from_environment
from .tools.settings import MCPSettings

CONFIG_VARIABLE = "ABSTRACTCORE_SERVER_CONFIG"
_SERVER_PREFIX = "ABSTRACTCORE_SERVER"
_LIMITS_PREFIX = "ABSTRACTCORE_SERVER_LIMITS"
_TABLES = ("server", "limits", "providers", "models", "guards", "mcp")
_SECRETS = ("api_key", "access_token", "credentials")
_EMPTY = Document("the environment", "")
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


def read_settings(file: str | None, environment: Mapping[str, str], given: Mapping[str, Any] | None = None) -> Settings:
    """Returns the settings of a file, by default the one that `ABSTRACTCORE_SERVER_CONFIG` names, if any; with the
    values of the environment over it (`ABSTRACTCORE_SERVER_PORT`, `ABSTRACTCORE_SERVER_LIMITS_BODY_BYTES`), and `given`
    values of `[server]` over these.

    Raises `ConfigurationError` with the file, line and column of what is wrong.
    """
    path = file or environment.get(CONFIG_VARIABLE)
    document = read_document(Path(path)) if path else _EMPTY
    root = Table(document, read_toml(document))
    root.check_names(_TABLES, "table")
    server = root.table("server").read(ServerSettings)
    over = {**_checked(ServerSettings, _SERVER_PREFIX, environment), **(given or {})}
    server = replace(server, **over)
    limits = replace(root.table("limits").read(Limits), **_checked(Limits, _LIMITS_PREFIX, environment))
    providers = {name: _provider(table) for name, table in root.table("providers").tables().items()}
    models = {name: _model(table) for name, table in root.table("models").tables().items()}
    guards = {name: _guard(table) for name, table in root.table("guards").tables().items()}
    mcp = {name: _mcp_server(name, table) for name, table in root.table("mcp").tables().items()}
    _check_tls(server, root)
    keys = _keys(server, environment)
    return Settings(server, limits, providers, models, guards, mcp, keys, document if path else None)


def _checked(cls: type[Any], prefix: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the values of the environment, checked as those of a file are."""
    found = from_environment(cls, prefix, environment)
    try:
        read: Any = Table(_EMPTY, found).read(cls) if found else None
    except ConfigurationError as error:
        problem = error.message.partition(": ")[2]
        raise ConfigurationError(f"the environment ({prefix}_...): {problem}", hint=error.hint) from None
    return {name: getattr(read, name) for name in found}


def _provider(table: Table) -> ProviderSettings:
    settings = table.read(ProviderSettings)
    _refuse_secrets(table, settings.options, 'Name the variable that holds the key: api_key_env = "NAME".')
    return settings


def _model(table: Table) -> ModelSettings:
    settings = table.read(ModelSettings)
    if not settings.models:
        raise table.error("expected at least one model", "models")
    return settings


def _guard(table: Table) -> GuardSettings:
    settings = table.read(GuardSettings)
    hint = 'Name the variable that holds it, if the guard has such an option: options.api_key_env = "NAME".'
    _refuse_secrets(table, settings.options, hint)
    return settings


def _refuse_secrets(table: Table, options: Mapping[str, Any], hint: str) -> None:
    for name in _SECRETS:
        if name in options:
            raise table.error("no secret belongs into this file", "options", name, hint=hint)


def _mcp_server(name: str, table: Table) -> MCPSettings:
    if not _LABEL.fullmatch(name):
        hint = "Clients name it: 1 to 40 letters, digits, '_' and '-', the first one a letter."
        raise table.error("it cannot be the name of an MCP server", hint=hint)
    settings = table.read(MCPSettings)
    problem = settings.problem()
    if problem is not None:
        raise table.error(problem.message, *problem.names, hint=problem.hint)
    return settings


def _check_tls(server: ServerSettings, root: Table) -> None:
    if (server.tls_certificate is None) != (server.tls_key is None):
        missing = "tls_key" if server.tls_key is None else "tls_certificate"
        raise root.error(f"TLS needs both a certificate and its key: {missing} is not set", "server")


def _keys(server: ServerSettings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the keys of the environment; raises `InvalidInputError` for an invalid one."""
    keys = {name: environment[name].strip() for name in server.keys_env if environment.get(name, "").strip()}
    for name, key in keys.items():
        check_key(key, name)
    return tuple(keys.values())
