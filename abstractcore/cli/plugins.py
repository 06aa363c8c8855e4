"""`abstractcore plugins`: lists plugins, with errors and slow ones."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

import typer

import abstractcore

from .backends import backend_rows, backend_table
from .exit_codes import exit_code
from .json_output import plugins_json
from .reporting import reported
from .screen import note, show_table, write

if TYPE_CHECKING:
    from ..registry import PluginReport, Registry

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
    from ..registry import Registry

    return Registry.from_entry_points(_watched)


@contextmanager
def _watched(owner: str) -> Generator[None]:
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
