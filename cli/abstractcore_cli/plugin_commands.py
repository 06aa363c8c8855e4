"""Commands of other packages, found by entry points of the group `abstractcore.commands`.

An entry point has the name of the command. Its value is a function, whose parameters typer reads, or a `typer.Typer`
with several commands. Its module is imported for `--help` and to run it: it declares arguments, and imports what it
needs when it is called.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from abstractcore import MissingExtraError, PluginError
from abstractcore.schema import checkout_hint

from .exit_codes import EPILOG
from .reporting import reported

GROUP = "abstractcore.commands"
PROJECTS = {"runs": "./packages/abstractruntime"}
"""Projects of this repository with commands, by the names of these: they say what to install where they are missing."""


def found_commands() -> dict[str, str]:
    """Returns the entry points of the group: values by name, without importing any; the first one of a name wins.

    `importlib.metadata` finds the same, but importing it takes a fifth of the time of `--help`.
    """
    found: dict[str, str] = {}
    for text in _entry_points():
        _, _, rest = text.partition(f"[{GROUP}]")
        for line in rest.partition("\n[")[0].splitlines():
            name, equals, value = line.partition("=")
            if equals:
                found.setdefault(name.strip(), value.strip())
    return found


def _entry_points() -> Iterator[str]:
    """Yields the entry points of each installed distribution that has some, in the order of `sys.path`."""
    for folder in sys.path:
        try:
            with os.scandir(folder or os.curdir) as entries:
                names = sorted(each.path for each in entries if each.name.endswith((".dist-info", ".egg-info")))
        except OSError:  # no folder
            continue
        for name in names:
            try:
                with open(os.path.join(name, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
                    yield file.read()
            except OSError:  # a distribution without entry points
                continue


def check_installed(name: str) -> None:
    """Raises `MissingExtraError` for a command of a package of this repository that is not installed."""
    if name in PROJECTS:
        package = PROJECTS[name].rpartition("/")[2]
        message = f"`abstractcore {name}` is a command of {package}, which is not installed."
        raise MissingExtraError(message, hint=checkout_hint(PROJECTS[name]))


def command_of(name: str, target: str) -> TyperCommand | TyperGroup:
    """Returns the command of an entry point. One that cannot be imported says so when it is run, and in `--help`."""
    module, _, attribute = target.partition(":")
    try:
        value = getattr(import_module(module), attribute)
    except Exception as error:
        value = _broken_command(name, target, error)
    app = typer.Typer(rich_markup_mode=None)
    if isinstance(value, typer.Typer):
        app.add_typer(value, name=name)
    else:
        app.command(name, epilog=EPILOG)(value)
    command = get_group(app).commands[name]
    assert isinstance(command, TyperCommand | TyperGroup)
    return command


def _broken_command(name: str, target: str, error: Exception) -> Callable[[], None]:
    problem = f"the command {name!r} cannot be imported from {target}: {type(error).__name__}: {error}"

    def command() -> None:
        with reported():
            raise PluginError(problem)

    command.__doc__ = "It cannot be imported: run it to see why."
    return command
