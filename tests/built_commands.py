"""The commands that tests invoke are built of their functions once, as a pytest plugin: that takes longer than most of
what they do.
"""

from __future__ import annotations

import copy
from functools import cache

import typer
from typer import testing
from typer.core import TyperGroup
from typer.main import get_command

_built = cache(get_command)


def _as_built(app: typer.Typer) -> object:
    """Returns the commands as they are built: what an invocation finds in other packages is added to a copy."""
    command = copy.copy(_built(app))
    if isinstance(command, TyperGroup):
        command.commands = dict(command.commands)
    return command


def pytest_configure() -> None:
    testing._get_command = _as_built
