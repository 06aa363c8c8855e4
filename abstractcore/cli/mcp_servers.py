"""`abstractcore mcp list` and `mcp call`: what a server offers, and single calls of its tools."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

import abstractcore

from .json_output import step_json, tools_json
from .reporting import reported
from .screen import announce, complain, note, show_table, write


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """Which server is meant: the one of a command or an address, or those of a configuration file.

    `headers` are NAME=VARIABLE: the values are read from the environment, since arguments are seen by others.
    """

    command: tuple[str, ...]
    url: str | None
    config: str | None
    server: str | None
    headers: tuple[str, ...]

    def servers(self) -> list[abstractcore.MCPTools]:
        """Returns the servers; raises `InvalidInputError` unless one way to name them was chosen."""
        if sum(map(bool, (self.command, self.url, self.config))) != 1:
            raise abstractcore.InvalidInputError(
                "expected a server", hint="Give --url URL, --config FILE, or -- COMMAND ARGUMENTS... at the end."
            )
        if self.config is None:
            headers = dict(map(_header, self.headers)) if self.url else None
            return [abstractcore.MCPTools(command=list(self.command) or None, url=self.url, headers=headers)]
        found = abstractcore.MCPTools.from_file(self.config)
        if self.server is None:
            return found
        chosen = [each for each in found if each.name == self.server]
        if not chosen:
            names = ", ".join(each.name for each in found) or "none"
            raise abstractcore.InvalidInputError(f"{self.config} has no server {self.server!r}: it has {names}")
        return chosen


def list_tools(choice: ServerChoice, *, as_json: bool) -> None:
    """Prints the tools of servers; one that cannot be reached is reported, and makes the exit code 4."""
    with reported(as_json=as_json):
        servers = choice.servers()
        found: list[tuple[str, abstractcore.ToolSpec]] = []
        failures: list[abstractcore.ToolServerError] = []
        for server in servers:
            with server:
                try:
                    found += [(server.name, spec) for spec in server.list_tools()]
                except abstractcore.ToolServerError as error:
                    failures.append(error)
        if failures and len(servers) == 1:
            raise failures[0]
        if as_json:
            write(tools_json(found))
        else:
            _show(found)
        for failure in failures:
            complain(str(failure), failure.hint)
        if failures:
            raise typer.Exit(4)


def call_tool(choice: ServerChoice, name: str, arguments: str, *, as_json: bool) -> None:
    """Calls a tool and prints its result; the exit code is 1 for an error of the tool."""
    with reported(as_json=as_json):
        servers = choice.servers()
        if len(servers) != 1:
            names = ", ".join(each.name for each in servers)
            raise abstractcore.InvalidInputError("expected one server", hint=f"Add --server NAME: one of {names}.")
        with servers[0] as server:
            try:
                step = server.call(name, _arguments(arguments))
            except abstractcore.InputRequired as error:
                raise abstractcore.ToolFailed(f"the tool asks the user, which is for loops: {error}") from None
        if as_json:
            write(step_json(step))
        else:
            _print(step)
        if step.result.is_error:
            raise typer.Exit(1)


def _show(found: Sequence[tuple[str, abstractcore.ToolSpec]]) -> None:
    if not found:
        note("no tools")
        return
    rows = [[server, spec.name, ", ".join(_flags(spec)), spec.description.partition("\n")[0]] for server, spec in found]
    show_table(["server", "tool", "flags", "description"], rows)


def _flags(spec: abstractcore.ToolSpec) -> list[str]:
    flags = [("read-only", spec.read_only), ("idempotent", spec.idempotent and not spec.read_only)]
    return [*(flag for flag, is_set in [*flags, ("destructive", spec.destructive)] if is_set), *spec.labels]


def _print(step: abstractcore.ToolStep) -> None:
    for part in step.result.content:
        if isinstance(part, abstractcore.TextPart):
            write(part.text if part.text.endswith("\n") else f"{part.text}\n")
        else:
            announce(f"[{part.type}: {part.blob.media_type}, {part.blob.size or 0:,} bytes]")


def _arguments(text: str) -> dict[str, Any]:
    try:
        given: Any = json.loads(text)
    except ValueError as error:
        hint = "For example '{\"a\": 1}'."
        raise abstractcore.InvalidInputError(f"the arguments are not JSON: {error}", hint=hint) from None
    if not isinstance(given, dict):
        raise abstractcore.InvalidInputError("the arguments are no JSON object", hint="For example '{\"a\": 1}'.")
    return given  # pyright: ignore[reportUnknownVariableType]


def _header(given: str) -> tuple[str, str]:
    name, is_given, variable = given.partition("=")
    value = os.environ.get(variable)
    if not is_given or not name:
        raise abstractcore.InvalidInputError("expected --header NAME=VARIABLE", hint="The value is read from VARIABLE.")
    if value is None:
        raise abstractcore.InvalidInputError(f"the environment variable {variable} of --header {name} is not set")
    return name, value
