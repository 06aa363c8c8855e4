"""Sessions as `ask` and `chat` open them: with the model that answered last, unless another one is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import abstractcore

from ..plugins import ConnectionArguments
from ..toolbox import Toolbox
from .last import last_path
from .names import make_folder, opened_here, session_path


def chosen_path(name: str | None, *, continues: bool) -> Path | None:
    """Returns the file that `--session NAME` or `-c` stands for, None without either; raises `InvalidInputError`."""
    if not continues:
        return None if name is None else session_path(name)
    if name is not None:
        raise abstractcore.InvalidInputError("--session and -c are both given", hint="Leave one out.")
    return last_path()


def with_last_model(connection: ConnectionArguments, path: Path | None) -> ConnectionArguments:
    """Returns the connection options with the model that answered last, unless they name one."""
    if path is None or connection.provider or connection.model or not path.exists():
        return connection
    from abstractcore.sessions import SessionSummary

    last = SessionSummary.read(path)
    return connection if last.provider is None else replace(connection, provider=last.provider, model=last.model)


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
