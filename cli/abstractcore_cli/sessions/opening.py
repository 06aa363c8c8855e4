"""Sessions as `ask` and `chat` open them: with the model that answered last, unless another one is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import abstractcore

from ..plugins import ConnectionArguments, create
from ..screen import note
from ..toolbox import Toolbox
from .last import last_path
from .names import file_beside, make_folder, opened_here, session_path

if TYPE_CHECKING:
    from abstractcore.sessions import SessionSummary


def chosen_path(name: str | None, *, continues: bool) -> Path | None:
    """Returns the file that `--session NAME` or `-c` stands for, None without either; raises `InvalidInputError`."""
    if not continues:
        return None if name is None else _named_path(name)
    if name is not None:
        raise abstractcore.InvalidInputError("--session and -c are both given", hint="Leave one out.")
    return last_path()


def _named_path(name: str) -> Path:
    """Returns the file of a session. For a new one, notes that the current folder has a file of that name."""
    path = session_path(name)
    file = None if path.exists() else file_beside(name)
    if file:
        note(f"{name!r} is a new session; to go on with the file {file}: --session {file}")
    return path


def with_last_model(
    connection: ConnectionArguments, path: Path | None, services: abstractcore.Services
) -> ConnectionArguments:
    """Returns the connection options with the model that answered last, unless they name one: as the first table
    `[llm.NAME]` that asks it, with its address, options and budget, if there is one; `[llm.default]` comes first.
    """
    if path is None or connection.provider or connection.model or not path.exists():
        return connection
    from abstractcore.sessions import SessionSummary

    last = SessionSummary.read(path)
    if last.provider is None:
        return connection
    names = sorted(services.configuration.llms, key=lambda name: name != "default")
    configured = (replace(connection, provider=name) for name in names)
    again = next((each for each in configured if _asks(each, services, last)), None)
    return again or replace(connection, provider=last.provider, model=last.model)


def _asks(connection: ConnectionArguments, services: abstractcore.Services, last: SessionSummary) -> bool:
    """Returns whether the LLM of these options, or a member of it, is the model that answered last."""
    try:
        members = create(connection, services).members
    except abstractcore.AbstractCoreError:
        return False  # such as one without a key: it did not answer
    return any((each.provider, each.model) == (last.provider, last.model) for each in members)


def opened_session(
    llm: abstractcore.LLM, path: Path | None, tools: Toolbox, system: str | None, **options: Any
) -> abstractcore.Session:
    """Returns the session in a file, or in memory without one."""
    options |= {"tools": tools.tools, "run_tools": tools.run_tools}
    if system is not None:
        options["system_prompt"] = system
    if path is None:
        return llm.session(**options)
    make_folder(path)
    with opened_here(path):
        return abstractcore.Session.open(path, llm, **options)
