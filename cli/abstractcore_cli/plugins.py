"""`abstractcore plugins`: lists plugins, with errors and slow ones.

The backends of voice, audio, vision and music in `abstractcore plugins`: which one is used, and why. Makes an `LLM`
from the connection options.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

import abstractcore
from abstractcore.ports import CAPABILITIES, BackendEntry
from abstractcore.schema import EMPTY

from .exit_codes import exit_code
from .reporting import plugins_json, reported
from .screen import note, show_table, write
from .tags import tags_of

if TYPE_CHECKING:
    from abstractcore.registry import PluginReport, Registry
    from abstractcore.stores.models import FileModelStore, Progress


def backend_rows(registry: Registry) -> list[dict[str, object]]:
    """Returns a row for each backend, the one that is used first, with the reason."""
    return [
        {
            "capability": entry.capability,
            "backend": entry.backend_id,
            "distribution": entry.distribution,
            "priority": entry.priority,
            "used": index == 0,
            "reason": _reason(entries) if index == 0 else "",
            "description": entry.description,
            "install_hint": entry.install_hint,
            "config_hint": entry.config_hint,
        }
        for entries in map(registry.backends.of, CAPABILITIES)
        for index, entry in enumerate(entries)
    ]


def backend_table(rows: Sequence[dict[str, object]]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Returns headers and rows."""
    headers = ("capability", "backend", "from", "used", "description")
    return headers, [
        (
            str(row["capability"]),
            str(row["backend"]),
            str(row["distribution"]),
            f"yes: {row['reason']}" if row["used"] else f"with {row['capability']}_backend=...",
            str(row["description"]),
        )
        for row in rows
    ]


def _reason(entries: Sequence[BackendEntry]) -> str:
    """Returns why the first of these is used."""
    if len(entries) == 1:
        return "the only one"
    first, second = entries[:2]
    return "highest priority" if first.priority > second.priority else "first by name"


_PATIENCE_SECONDS = 2.0


def show_plugins(*, as_json: bool = False) -> None:
    """Prints all plugins and backends, as tables or as one JSON object; exits with an error code if one is broken."""
    with reported(as_json=as_json):
        found = registry()
        backends, reports = backend_rows(found), found.reports  # in this order: backends are loaded now
        broken = [report.name for report in reports if report.error is not None]
        code = exit_code(abstractcore.PluginError("")) if broken else 0
        if as_json:
            write(plugins_json(reports, backends, code))
        else:
            show_table(*_table(reports))
            if backends:
                show_table(*backend_table(backends))
            slow = [f"{report.name} ({report.seconds:.1f} s)" for report in reports if report.slow]
            for what, names in (("broken", broken), ("slow to load", slow)):
                if names:
                    note(f"{what}: {', '.join(names)}")
        if broken:
            raise typer.Exit(code)


def registry() -> Registry:
    """Returns the registry. Reports plugins that take long to load, and keeps them from writing to stdout."""
    from abstractcore.registry import Registry

    return Registry.from_entry_points(_watch)


@contextmanager
def _watch(owner: str) -> Generator[None]:
    """Wraps the loading of one plugin."""
    timer = threading.Timer(_PATIENCE_SECONDS, note, [f"still loading: {owner}"])
    timer.daemon = True
    timer.start()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        timer.cancel()


def _table(reports: Sequence[PluginReport]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Returns headers and rows, with a column for errors if there are any."""
    errors = any(report.error is not None for report in reports)
    headers = ("plugin", "from", "registered", *(("error",) if errors else ()))
    rows = [
        (report.name, report.distribution, _by_kind(report), *((report.error or "",) if errors else ()))
        for report in reports
    ]
    return headers, [*rows]


def _by_kind(report: PluginReport) -> str:
    """Returns registered names by kind, as in `provider a, b; tool source c`."""
    kinds: dict[str, list[str]] = {}
    for kind, name in report.registered:
        kinds.setdefault(kind, []).append(name)
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())


@dataclass(frozen=True, slots=True)
class ConnectionArguments:
    """The connection options. `quiet` also hides the progress of downloads. `tags` are texts such as "team=office"."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    context_size: int | None = None
    quiet: bool = False
    tags: tuple[str, ...] = ()


@contextmanager
def connected(
    connection: ConnectionArguments,
    plugins: Registry | None = None,
    *,
    api_key: str | None = None,
    more: Mapping[str, Any] = EMPTY,
    default: str | None = None,
    unless_set: Mapping[str, Any] = EMPTY,
) -> Generator[abstractcore.LLM]:
    """Yields the LLM, and closes it. `plugins` is the registry, if it is loaded already; `more` are further options.

    `default` names the table `[llm.NAME]` of the configuration for a command whose models do not chat: if no model is
    given, it is that one, or the embedded model without it. `unless_set` are options that a table `[llm.NAME]` may set.
    """
    with connections(plugins, quiet=connection.quiet) as services:
        if default is not None and connection.provider is None and connection.model is None:
            named = default if default in services.configuration.llms else "local"
            connection = replace(connection, provider=named)
        named = services.configuration.llms.get(connection.provider or "")
        usual = {name: each for name, each in unless_set.items() if named is None or name not in named.options}
        yield create(connection, services, {"api_key": api_key, **usual, **more})


@contextmanager
def connections(plugins: Registry | None = None, *, quiet: bool) -> Generator[abstractcore.Services]:
    """Yields what the LLMs of a command share, and closes it."""
    models = model_store(_ignore if quiet else None)
    services = abstractcore.Services(models=models, registry=plugins or registry())
    try:
        yield services
    except abstractcore.UnknownOptionError as error:
        error.hint = "Leave it out: the provider does not support it."
        raise
    finally:
        services.close()


def create(
    connection: ConnectionArguments,
    services: abstractcore.Services,
    more: Mapping[str, Any] = EMPTY,
    *,
    group: Sequence[str] = (),
) -> abstractcore.LLM:
    """Returns the LLM of the connection options, or a group of models with these options."""
    options = {
        "base_url": connection.base_url,
        "temperature": connection.temperature,
        "max_output_tokens": connection.max_tokens,
        "timeout": connection.timeout,
        "context_size": connection.context_size,
        "tags": tags_of(connection.tags) or None,
        **more,
    }
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    return abstractcore.create_llm([*group] or connection.provider, connection.model, services=services, **given)


def model_store(progress: Progress | None = None) -> FileModelStore:
    """The weights on this machine, by the names of installed plugins too; loaded when a command needs them."""
    from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore

    return FileModelStore(packaged=(*PACKAGED_MODELS, *registry().models.values()), progress=progress)


def _ignore(name: str, done: int, total: int) -> None:
    """Ignores progress."""
