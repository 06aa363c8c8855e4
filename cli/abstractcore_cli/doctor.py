"""`abstractcore doctor`: what is installed and set on this machine, and the command that mends what is not."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

import abstractcore
from abstractcore.configuration import read_configuration
from abstractcore.schema import install_hint
from abstractcore.schema.amounts import counted
from abstractcore.user_folders import config_file_path, data_folder

from .exit_codes import exit_code
from .plugins import model_store, registry
from .reporting import error_lines, in_options, json_line, reported
from .screen import note, screen_width, show_table, write

if TYPE_CHECKING:
    from abstractcore.registry import Registry

State = Literal["ok", "missing", "wrong"]
"""What is "missing" may be installed or set if it is needed; what is "wrong" has to be mended."""
_REQUIREMENT = re.compile(r"(?P<spec>(?P<name>[A-Za-z0-9._-]+)[^;]*)(?:;(?P<marker>.*))?")
_EXTRA = re.compile(r"""extra == ['"]([^'"]+)['"]""")
_LEFT_OUT = frozenset({"all", "test"})
_LEAST_FREE = 500 * 1024 * 1024
"""What the weights of a small model need, and a file of traces."""


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """What was found in one area; `fix` is the command that mends it, or what to do."""

    area: str
    name: str
    state: State
    detail: str
    fix: str = ""


def examine(*, as_json: bool) -> None:
    """Prints the findings of all areas; exits with an error code if something is wrong."""
    with reported(as_json=as_json):
        plugins = registry()
        findings = [finding for check in _CHECKS for finding in check(plugins)]
        wrong = [finding for finding in findings if finding.state == "wrong"]
        code = exit_code(abstractcore.ConfigurationError("")) if wrong else 0
        if as_json:
            write(json_line({"findings": [asdict(finding) for finding in findings], "exit_code": code}))
        else:
            show_findings(findings)
            note(f"{len(wrong)} wrong: {', '.join(each.name for each in wrong)}" if wrong else "Nothing is wrong.")
        if wrong:
            raise typer.Exit(code)


def show_findings(findings: list[HealthFinding]) -> None:
    """Prints a row for each finding. On a terminal, what mends it follows what was found: as a column of its own, it
    would leave no room for the others.
    """
    if screen_width():
        rows = [(each.area, each.name, each.state, _with_fix(each)) for each in findings]
        show_table(("area", "what", "state", "found, and what mends it"), rows)
    else:
        show_table((), [(each.area, each.name, each.state, each.detail, each.fix) for each in findings])


def _with_fix(finding: HealthFinding) -> str:
    return f"{finding.detail}: {finding.fix}" if finding.fix else finding.detail


def _program(plugins: Registry) -> Iterator[HealthFinding]:
    folder = Path(abstractcore.__file__).parent
    yield HealthFinding("program", "abstractcore", "ok", f"{abstractcore.__version__} in {folder}")
    yield HealthFinding("program", "Python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}")


def _extras(plugins: Registry) -> Iterator[HealthFinding]:
    """Yields each extra of the distribution; what is missing of it is installed by the command."""
    missing = dict[str, list[str]]()
    for text in distribution("abstractcore").requires or ():
        match = _REQUIREMENT.fullmatch(text)
        extra = _EXTRA.search(match["marker"] or "") if match else None
        if match is None or extra is None or extra[1] in _LEFT_OUT:
            continue
        needs = missing.setdefault(extra[1], [])
        if not _is_installed(match["name"]) and _is_for_this_system(match["marker"]):
            needs.append(match["spec"].strip())
    for name, needs in sorted(missing.items()):
        if needs:
            yield HealthFinding(
                "extra", name, "missing", f"without {', '.join(needs)}", install_hint(*needs, extra=name)
            )
        else:
            yield HealthFinding("extra", name, "ok", "installed")


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _is_for_this_system(marker: str) -> bool:
    return not (sys.platform == "win32" and re.search(r"sys_platform\s*!=\s*['\"]win32", marker))


def _plugins(plugins: Registry) -> Iterator[HealthFinding]:
    plugins.backends.of("voice")  # loads them all
    for report in plugins.reports:
        if report.error is None:
            detail = f"{report.distribution}, loaded in {report.seconds:.2f} s"
            yield HealthFinding("plugin", report.name, "ok", detail)
        else:
            name = report.distribution.partition(" ")[0]
            fix = f"Install another version of {name}, or pip uninstall {name}"
            yield HealthFinding("plugin", report.name, "wrong", report.error, fix)


def _configuration(plugins: Registry) -> Iterator[HealthFinding]:
    path, is_named = config_file_path(os.environ)
    if not is_named and not path.exists():
        yield HealthFinding("configuration", "config.toml", "missing", f"no {path}", "abstractcore config edit")
        return
    try:
        found = read_configuration(path, plugins.media_handlers, plugins.providers)
    except abstractcore.ConfigurationError as error:
        message, hint = error_lines(error)
        yield HealthFinding("configuration", "config.toml", "wrong", message, hint or "abstractcore config edit")
    else:
        detail = f"{path}: {counted(len(found.llms), 'named LLM')}, {counted(len(found.providers), 'provider')}"
        yield HealthFinding("configuration", "config.toml", "ok", detail)
        if (default := found.llms.get("default")) is not None:
            model = ", ".join(default.models) or "/".join(filter(None, (default.provider, default.model)))
            yield HealthFinding("configuration", "default model", "ok", model)


def _keys(plugins: Registry) -> Iterator[HealthFinding]:
    """Yields the providers that need a key, and the servers of this machine that answer."""
    services = abstractcore.Services(registry=plugins)
    try:
        states = abstractcore.provider_states(services)
    finally:
        services.close()
    for state in states:
        if state.needs_key and state.has_key:
            yield HealthFinding("key", state.name, "ok", "set, not shown")
        elif state.problem is not None:
            fix = "Mend the variable of the environment, or the setting of config.toml, that it is about."
            yield HealthFinding("provider", state.name, "wrong", state.problem, fix)
        elif state.needs_key:
            yield HealthFinding("key", state.name, "missing", "no key", in_options(state.key_hint or ""))
        elif state.answers:
            detail = f"{counted(len(state.models or ()), 'model')} at {state.address}"
            yield HealthFinding("server", state.name, "ok", detail)


def _weights(plugins: Registry) -> Iterator[HealthFinding]:
    from abstractcore.stores.models import shown_size

    store = model_store()
    kept = {model.name: model for model in store.list()}
    for model in store.packaged:
        if model.name in kept:
            yield HealthFinding("weights", model.name, "ok", f"{shown_size(kept[model.name].size)} in {store.root}")
        else:
            fix = f"abstractcore models pull {model.name}"
            yield HealthFinding("weights", model.name, "missing", f"{shown_size(model.size)} to download", fix)


def _disk(plugins: Registry) -> Iterator[HealthFinding]:
    from abstractcore.stores.models import shown_size

    prune, move = (
        "abstractcore traces prune --keep-days 30 removes old traces",
        "set ABSTRACTCORE_CACHE to another folder",
    )
    for name, folder, more_space, elsewhere in (
        ("data", data_folder(), f"Free disk space: {prune}.", "name files elsewhere, as with --store FILE"),
        ("cache", model_store().root, f"Free disk space, or {move}.", move),
    ):
        there = next(each for each in (folder, *folder.parents) if each.exists())
        free, writable = shutil.disk_usage(there).free, os.access(there, os.W_OK)
        detail = f"{shown_size(free)} free{'' if writable else ', not writable'}: {folder}"
        fix = f"Make {there} writable, or {elsewhere}." if not writable else more_space if free < _LEAST_FREE else ""
        yield HealthFinding("disk", name, "wrong" if fix else "ok", detail, fix)


_CHECKS: tuple[Callable[[Registry], Iterator[HealthFinding]], ...] = (
    _program,
    _extras,
    _plugins,
    _configuration,
    _keys,
    _weights,
    _disk,
)
