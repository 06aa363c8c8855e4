"""Configuration files of MCP servers, in the form that desktop clients use (`mcp.json`)."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from ..errors import ConfigurationError, InvalidInputError
from ..registry.suggestions import missing_path_hint
from ..schema.base_error import shown

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
_LONGEST = 1_000_000
_SERVERS = ("mcpServers", "servers")
"""Where the servers are: in the files of most clients, and in those of VS Code
(https://code.visualstudio.com/docs/copilot/reference/mcp-configuration)."""
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-((?:[^}$]|\$(?!\{))*+))?\}")
"""`${NAME}`, `${NAME:-default}` and `${env:NAME}`."""
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp")


def servers_of(
    path: str | os.PathLike[str], environment: Mapping[str, str], make: Callable[[dict[str, Any]], T]
) -> list[T]:
    """Returns the objects that `make` makes of the arguments and choices of each server of a file that is not disabled.

    `${NAME}` in texts is replaced by a variable of `environment`. Raises `ConfigurationError` with the lines of all
    that is wrong with the servers; `make` raises `InvalidInputError`.
    """
    file = Path(path)
    text = _read(file)
    reader = _ConfigReader(file, text, environment)
    data = reader.parse()
    key = next((key for key in _SERVERS if key in data), None)
    if key is None:
        raise reader.error("there is no object 'mcpServers'", hint='For example {"mcpServers": {"time": {...}}}.')
    made: list[T] = []
    for name, given in reader.object(data[key], key).items():
        with reader.noting():
            found = reader.server(name, reader.object(given, key, name), (key, name))
            if found is not None:
                try:
                    made.append(make(found))
                except InvalidInputError as error:
                    raise reader.error(str(error).removesuffix("."), key, name) from None
    reader.raise_noted()
    return made


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Returns a text with the variables that it names, as in `${NAME}`; raises `TypeError` for one that is not set."""

    def variable(match: re.Match[str]) -> str:
        default: str | None = match[2]
        found = environment.get(match[1], default)
        if found is None:
            raise TypeError(f"the environment variable {match[1]} is not set")
        return found

    return _VARIABLE.sub(variable, text)


class _ConfigReader:
    """Reads the servers of one file."""

    def __init__(self, file: Path, text: str, environment: Mapping[str, str]) -> None:
        self._file = file
        self._text = text
        self._environment = environment
        self._noted: list[ConfigurationError] = []

    def parse(self) -> Mapping[str, Any]:
        try:
            data: Any = json.loads(self._text, object_pairs_hook=self._pairs)
        except json.JSONDecodeError as error:
            raise self._error(f"{error.msg} (column {error.colno})", error.lineno) from None
        except RecursionError:
            raise self._error("it is nested too deeply", 1) from None
        return self.object(data)

    @contextmanager
    def noting(self) -> Generator[None]:
        """Notes an error of the body, which ends: what follows is read too."""
        try:
            yield
        except ConfigurationError as error:
            self._noted.append(error)

    def raise_noted(self) -> None:
        """Raises the errors that were noted, as one with a line each; nothing if there are none."""
        if len(self._noted) == 1:
            raise self._noted[0]
        if self._noted:
            error = ConfigurationError("\n".join(str(each) for each in self._noted))
            error.file = str(self._file)
            raise error

    def _pairs(self, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise self._error(f"duplicate key {shown(twice)}", self._line(twice, twice))
        return found

    def object(self, value: Any, *path: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"expected an object, got {shown(value)}", *path)
        return cast("dict[str, Any]", value)

    def server(self, name: str, given: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
        """Returns the arguments of a server; None for one that is disabled."""
        found: dict[str, Any] = {"name": name}
        for field, value in given.items():
            if field not in _FIELDS:
                _log.warning("%s:%d: %r is not used", self._file, self._line(*path, field), field)
                continue
            with self.noting():
                try:
                    found[field] = _FIELDS[field](self, value)
                except TypeError as error:
                    raise self.error(str(error), *path, field) from None
        if found.keys() - {"name"} != given.keys() & _FIELDS.keys():
            return None  # a field of it is wrong, which is noted
        kind = found.pop("type", None)
        if kind == "sse":
            hint = "Give the address of its streamable HTTP endpoint, with type http."
            raise self.error("servers of type sse are not supported", *path, "type", hint=hint)
        if found.pop("disabled", False):
            return None
        if kind not in (None, "stdio", *_HTTP_TYPES):
            raise self.error(f"the type {shown(kind)} is not stdio or http", *path, "type")
        command, arguments = found.pop("command", None), found.pop("args", [])
        if command is not None:
            found["command"] = [command, *arguments]
        return found

    def expanded(self, value: Any) -> str:
        """Returns a text with the variables that it names."""
        if not isinstance(value, str):
            raise TypeError(f"expected text, got {shown(value)}")
        return expanded(value, self._environment)

    def texts(self, value: Any) -> list[str]:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {shown(value)}")
        return [self.expanded(item) for item in cast("list[Any]", value)]

    def mapping(self, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, got {shown(value)}")
        return {name: self.expanded(item) for name, item in cast("dict[str, Any]", value).items()}

    def flag(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"expected true or false, got {shown(value)}")
        return value

    def as_given(self, value: Any) -> Any:
        return value

    def error(self, problem: str, *path: str, hint: str | None = None) -> ConfigurationError:
        """Returns the error for what is at a path of keys."""
        where = ".".join(path)
        return self._error(f"{where}: {problem}" if where else problem, self._line(*path), hint)

    def _error(self, problem: str, line: int, hint: str | None = None) -> ConfigurationError:
        error = ConfigurationError(f"{self._file}:{line}: {problem}.", hint=hint)
        error.file = str(self._file)
        return error

    def _line(self, *path: str) -> int:
        """Returns the line of a key, found in the order of its path."""
        position = 0
        for key in path:
            found = re.compile(re.escape(json.dumps(key)) + r"\s*:").search(self._text, position)
            position = found.end() if found else position
        return self._text.count("\n", 0, position) + 1


_FIELDS: dict[str, Callable[[_ConfigReader, Any], Any]] = {
    "type": _ConfigReader.expanded,
    "command": _ConfigReader.expanded,
    "args": _ConfigReader.texts,
    "env": _ConfigReader.mapping,
    "cwd": _ConfigReader.expanded,
    "url": _ConfigReader.expanded,
    "headers": _ConfigReader.mapping,
    "disabled": _ConfigReader.flag,
    "required": _ConfigReader.flag,
    "defer": _ConfigReader.flag,
    "labels": _ConfigReader.as_given,
    "price": _ConfigReader.as_given,
    "only": _ConfigReader.texts,
    "without": _ConfigReader.texts,
    "prefix": _ConfigReader.expanded,
}
"""The fields of a server: those of desktop clients, and from `required` on those of `MCPTools`."""


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > _LONGEST:
            raise ConfigurationError(f"{file} has more than {_LONGEST:,} bytes: it is not a list of servers.")
        return file.read_text("utf-8-sig")
    except OSError as error:
        problem = f"{file} cannot be read: {error.strerror or type(error).__name__}."
        raise ConfigurationError(problem, hint=missing_path_hint(str(file))) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not a text in UTF-8.") from None
