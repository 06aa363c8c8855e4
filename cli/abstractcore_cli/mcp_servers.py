"""`abstractcore mcp list` and `mcp call`: what a server offers, and single calls of its tools."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

import abstractcore

from .reporting import reported, step_json, tools_json
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


def call_tool(choice: ServerChoice, name: str, arguments: Sequence[str], *, as_json: bool) -> None:
    """Calls a tool and prints its result; one that is an error is reported as such, and makes the exit code 1."""
    with reported(as_json=as_json):
        given = _arguments(arguments)
        servers = choice.servers()
        if len(servers) != 1:
            names = ", ".join(each.name for each in servers)
            raise abstractcore.InvalidInputError("expected one server", hint=f"Add --server NAME: one of {names}.")
        with servers[0] as server:
            try:
                step = server.call(name, given)
            except abstractcore.InputRequired as error:
                raise abstractcore.ToolFailed(f"the tool asks the user, which is for loops: {error}") from None
        if step.outcome == "unknown_tool":
            raise abstractcore.InvalidInputError(step.result.as_text)
        if as_json:
            write(step_json(step))
        elif step.result.is_error:
            complain(step.result.as_text, None)
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


def _arguments(texts: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of a call, which are one text."""
    hint = f"Give one JSON object, and a program after --: {shlex.quote(json.dumps(_pairs(texts)))} -- COMMAND..."
    if len(texts) > 1:
        raise abstractcore.InvalidInputError(f"expected one JSON object, got {len(texts)} arguments", hint=hint)
    try:
        given: Any = json.loads(texts[0])
    except ValueError as error:
        raise abstractcore.InvalidInputError(f"the arguments are not JSON: {error}", hint=hint) from None
    if not isinstance(given, dict):
        raise abstractcore.InvalidInputError("the arguments are not a JSON object", hint=hint)
    return given  # pyright: ignore[reportUnknownVariableType]


def _pairs(texts: Sequence[str]) -> dict[str, Any]:
    """Returns the possible meanings of texts such as NAME=VALUE, for a hint; an example if there are none."""
    found: dict[str, Any] = {}
    for text in texts:
        name, is_pair, value = text.partition("=")
        if is_pair and name.isidentifier():
            try:
                found[name] = json.loads(value)
            except ValueError:
                found[name] = value
    return found or {"a": 1}


def _header(given: str) -> tuple[str, str]:
    name, is_given, variable = given.partition("=")
    value = os.environ.get(variable)
    if not is_given or not name:
        raise abstractcore.InvalidInputError("expected --header NAME=VARIABLE", hint="The value is read from VARIABLE.")
    if value is None:
        raise abstractcore.InvalidInputError(f"the environment variable {variable} of --header {name} is not set")
    return name, value
