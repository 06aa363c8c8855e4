"""Reads the configuration: one TOML file, and the environment over it; and checks its files, providers and models."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import abstractcore
from abstractcore.catalogue import Document, read_document, read_toml
from abstractcore.configuration import Problems, Table, from_environment, read_routing
from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    InvalidInputError,
    ModelNotFoundError,
    NotFoundError,
    UnknownProviderError,
    UnsupportedOptionError,
)
from abstractcore.ports import EMBED, HasOperations, KnownUrl
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import EmbedInput, Encoded, Message, ModelCall
from abstractcore.scrubbing import shown_url

from ..access.admission import check_key
from ..access.budgets import budget_of
from ..models import DEFAULT, HIDDEN, LONGEST_NAME, LLMs
from .settings import (
    BudgetSettings,
    GuardSettings,
    MCPSettings,
    ModelSettings,
    ProviderSettings,
    ServerLimits,
    ServerSettings,
    Settings,
)

CONFIG_VARIABLE = "ABSTRACTCORE_SERVER_CONFIG"
_SERVER_PREFIX = "ABSTRACTCORE_SERVER"
_LIMITS_PREFIX = "ABSTRACTCORE_SERVER_LIMITS"
_TABLES = ("server", "limits", "providers", "models", "guards", "mcp", "budgets")
_ROUTING = "routing"
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
    with problems.collect():
        _check_tables(root)
    server = _overridden(root, "server", ServerSettings, _SERVER_PREFIX, environment, problems)
    server = replace(server, **(given or {}))
    limits = _overridden(root, "limits", ServerLimits, _LIMITS_PREFIX, environment, problems)
    providers = _read_all(root, "providers", _provider, problems)
    models = _read_all(root, "models", _model, problems)
    guards = _read_all(root, "guards", _guard, problems)
    mcp = _read_all(root, "mcp", _mcp_server, problems)
    budgets = _read_all(root, "budgets", _budget, problems)
    settings = Settings(
        server,
        limits,
        providers,
        models,
        guards,
        mcp,
        budgets,
        _keys(server.keys_env, environment),
        document if path else None,
        _keys(server.admin_keys_env, environment),
    )
    problems.check()
    if not settings.keys and server.keys_env and _names_keys(root, environment):
        hint = "Set one, or remove keys_env."
        problems.add(settings.error(_UNSET_KEYS, "server", "keys_env", hint=hint))
    with problems.collect():
        _check_hosts(settings)
    with problems.collect():
        _check_origins(settings)
    with problems.collect():
        check_files(settings)
    problems.check()
    return settings


def unknown_variables(environment: Mapping[str, str], settings: Settings) -> list[str]:
    """Returns the variables that have the prefix of settings but are not settings, so that they change nothing."""
    limits = {f"{_LIMITS_PREFIX}_{each.name.upper()}" for each in fields(ServerLimits)}
    known = {f"{_SERVER_PREFIX}_{each.name.upper()}" for each in fields(ServerSettings)} | limits
    known |= {CONFIG_VARIABLE, *ServerSettings().keys_env, *settings.server.keys_env}
    known |= {*ServerSettings().admin_keys_env, *settings.server.admin_keys_env}
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
    with problems.collect():
        read = root.table(name).read(cls)
    with problems.collect():
        return replace(read, **_environment_values(cls, prefix, environment))
    return read


def _environment_values(cls: type[Any], prefix: str, environment: Mapping[str, str]) -> dict[str, Any]:
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
    """Returns the result of `read` for each table of a table, by name."""
    found: dict[str, T] = {}
    with problems.collect():
        for each, table in root.table(name).tables().items():
            with problems.collect():
                found[each] = read(each, table)
    return found


def _provider(name: str, table: Table) -> ProviderSettings:
    settings = table.read(ProviderSettings)
    _refuse_secrets(table, settings.options, 'Name the variable that holds the key: api_key_env = "NAME".')
    return settings


def _model(name: str, table: Table) -> ModelSettings:
    given = {key: value for key, value in table.values.items() if key != _ROUTING}
    settings = Table(table.document, given, table.path).read(ModelSettings)
    if not settings.models:
        raise table.error("expected at least one model", "models")
    if _ROUTING not in table.values:
        return settings
    routing = read_routing(table.table(_ROUTING))
    try:
        return replace(settings, routing=routing)
    except InvalidInputError as error:
        raise table.error(error.message.partition(": ")[2], *error.path.split("."), hint=error.hint) from None


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


def _budget(name: str, table: Table) -> BudgetSettings:
    if not _LABEL.fullmatch(name):
        hint = "Errors name it: 1 to 40 letters, digits, '_' and '-', the first one a letter."
        raise table.error("it cannot be the name of a budget", hint=hint)
    settings = table.read(BudgetSettings)
    try:
        budget_of(name, settings, None)
    except InvalidInputError as error:
        raise table.error(error.message.removeprefix(f"{error.path}: "), error.path, hint=error.hint) from None
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


def _keys(names: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the keys of the environment; raises `InvalidInputError` for an invalid one."""
    keys = {name: environment[name].strip() for name in names if environment.get(name, "").strip()}
    for name, key in keys.items():
        check_key(key, name)
    return tuple(keys.values())


def _names_keys(root: Table, environment: Mapping[str, str]) -> bool:
    """Whether the configuration itself names the variables of keys."""
    return "keys_env" in root.table("server").values or f"{_SERVER_PREFIX}_KEYS_ENV" in environment


def check_files(settings: Settings) -> None:
    """Raises `ConfigurationError` for files that cannot be read or written. Makes none."""
    problems = Problems()
    for check in (_check_certificate, _check_audit_log, _check_receipts):
        with problems.collect():
            check(settings)
    problems.check()


def _check_certificate(settings: Settings) -> None:
    certificate, key = settings.server.tls_certificate, settings.server.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing = "tls_key" if key is None else "tls_certificate"
        raise settings.error(f"TLS needs both a certificate and its key: {missing} is not set", "server")
    for name, path in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise settings.error(f"{path} cannot be read: {reason}", "server", name) from None
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        reason = (getattr(error, "reason", None) or str(error) or "not PEM").replace("_", " ").lower()
        hint = "Both files are PEM: the certificate with its chain, and its own key without a password."
        raise settings.error(f"{certificate} and {key} cannot be used: {reason}", "server", hint=hint) from None


def _no_password() -> str:
    raise ValueError("the key has a password")


def _check_audit_log(settings: Settings) -> None:
    path = settings.server.audit_log
    if path is None:
        return
    file = Path(path)
    found = file if file.exists() else file.absolute().parent
    if not found.exists():
        raise settings.error(f"the folder {found} does not exist", "server", "audit_log")
    if file.is_dir() or not os.access(found, os.W_OK):
        raise settings.error(f"{file} cannot be written", "server", "audit_log", hint="Name a file.")


def _check_receipts(settings: Settings) -> None:
    path = settings.server.receipts
    if path is None:
        return
    folder = Path(path).absolute()
    found = next(each for each in (folder, *folder.parents) if each.exists())
    if not found.is_dir() or not os.access(found, os.W_OK):
        raise settings.error(f"{found} is not a folder that can be written", "server", "receipts")


_IN_SETTINGS = (
    (", or pass api_key=...", ', or name another variable: api_key_env = "NAME".'),
    ("Pass api_key=... or headers=...", 'Name the variable that holds the key: api_key_env = "NAME".'),
)
"""Hints for programs, and what they are in the configuration."""
_BASE_URL = re.compile(r"base_url='([^']*)'")


def check_models(settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    """Raises `ConfigurationError`, with their lines, for all providers and models that cannot be used."""
    problems = Problems()
    for name in settings.providers:
        with problems.collect():
            _check_provider(name, settings, services, llms)
    with problems.collect():
        _check_default(settings, services, llms)
        for name, group in settings.models.items():  # which may name the default model
            for model in group.models:
                with problems.collect():
                    _check_model(name, model, settings, services, llms)
    problems.check()


def _check_provider(name: str, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    known = services.registry.providers
    if name not in known or name in HIDDEN:
        near = nearest_names(name[:LONGEST_NAME], known)
        hint = did_you_mean(near) if near else None
        raise settings.error("there is no such provider", "providers", name, hint=hint)
    table = settings.providers[name]
    if not table.enabled:
        return
    if table.api_key_env is not None and not services.environment.get(table.api_key_env):
        hint = "Write the name of a variable, not the key itself, and set it."
        raise settings.error("the environment variable is not set", "providers", name, "api_key_env", hint=hint)
    try:
        abstractcore.create_llm(name, "any", services=services, **llms.options_of(name))
    except AbstractCoreError as error:
        options = [("options", option) for option in table.options]
        place = next((each for each in (("base_url",), *options) if re.search(rf"\b{each[-1]}\b", error.message)), ())
        raise settings.error(error.message, "providers", name, *place, hint=_hint(error)) from None


def addresses(settings: Settings, services: abstractcore.Services, llms: LLMs) -> list[str]:
    """Returns a sentence for each provider that is configured, or has an unusual base URL: which URL is requested for a
    call, and what to write if there is nothing. The providers have been checked.
    """
    found: list[str] = []
    for name in sorted(services.registry.providers):
        if not llms.usable(name):
            continue
        llm = abstractcore.create_llm(name, "any", services=services, **llms.options_of(name))
        url = llm.endpoint.url if isinstance(llm.endpoint, KnownUrl) else None
        if url is None:
            continue
        path = _requested(llm).request.url
        explained = llm.endpoint.diagnose(NotFoundError(""))
        unusual = f" {_hint(explained)}" if explained.hint else ""
        if unusual or name in settings.providers:
            found.append(f"calls of {name} go to {shown_url(url + path)}.{unusual}")
    return found


def _requested(llm: abstractcore.LLM) -> Encoded:
    """Returns a request to the provider of an LLM: a chat, or one for vectors if it has no chat."""
    transpiler = llm.transpiler
    try:
        return transpiler.encode(ModelCall("any", (Message.user("hi"),), provider=llm.provider))
    except UnsupportedOptionError:
        if not isinstance(transpiler, HasOperations):
            raise
        return transpiler.operations[EMBED].encode(EmbedInput(items=("hi",), model="any", provider=llm.provider))


def _check_default(settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    name = settings.server.default
    if name is None:
        return
    place = ("server", "default")
    if name in settings.models:
        hint = f"Name the table [models.{DEFAULT}] instead."
        raise settings.error(f"{name!r} is a name of [models], not a model", *place, hint=hint)
    try:
        _ = llms.default
    except AbstractCoreError as error:
        raise _unusable(name, error, settings, services, place) from None


def _check_model(group: str, name: str, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
    place = ("models", group, "models")
    if name in settings.models:
        hint = f"Write the models of {name!r} themselves."
        raise settings.error(f"{name!r} is a name of [models], not a model", *place, hint=hint)
    try:
        llms.one(name)
    except AbstractCoreError as error:
        raise _unusable(name, error, settings, services, place) from None


def _unusable(
    name: str, error: AbstractCoreError, settings: Settings, services: abstractcore.Services, place: Sequence[str]
) -> ConfigurationError:
    cause = error.__cause__ if isinstance(error, ModelNotFoundError) else error
    if isinstance(cause, AbstractCoreError) and not isinstance(cause, UnknownProviderError):
        return settings.error(f"{name!r} cannot be used: {cause.message}", *place, hint=_hint(cause))
    problem = f"there is no model {name[:LONGEST_NAME]!r}"
    return settings.error(problem, *place, hint=_model_hint(name, services))


def _model_hint(name: str, services: abstractcore.Services) -> str:
    provider, slash, model = name.partition("/")
    if provider == "local" and slash:
        return (
            f"Of the models on this machine, name those that clients may use: [providers.local] models = [{model!r}]."
        )
    near = nearest_names(provider[:LONGEST_NAME], services.registry.providers)
    meant = f"{did_you_mean(near)} " if near and provider not in near else ""
    return f"{meant}Write PROVIDER/MODEL; `abstractcore models search` lists models."


def _hint(error: AbstractCoreError) -> str | None:
    """Returns the hint of an error in the words of the configuration."""
    hint = error.hint
    for program, table in _IN_SETTINGS:
        hint = hint and hint.replace(program, table)
    return hint and _BASE_URL.sub(r'base_url = "\1"', hint)
