"""Tables of a configuration in TOML, read into dataclasses: what is wrong is an error with its line and column."""

from __future__ import annotations

import re
import tomllib
import types
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ..catalogue import Document
from ..errors import ConfigurationError
from ..registry import did_you_mean, nearest_names
from ..schema import shown


class InvalidConfigurationError(ConfigurationError):
    """Several errors of a configuration, which its message has one below the other, each with its hint."""

    _longest_message = 1_000_000

    def __init__(self, errors: Sequence[ConfigurationError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)
        self.file = errors[0].file


class Problems:
    """Collects errors, so that one reading of a configuration finds them all."""

    def __init__(self) -> None:
        self._errors: list[ConfigurationError] = []

    def add(self, error: ConfigurationError) -> None:
        """Adds an error, unless it was added before."""
        known = {str(each) for each in self._errors}
        errors = error.errors if isinstance(error, InvalidConfigurationError) else [error]
        self._errors += [each for each in errors if str(each) not in known]

    @contextmanager
    def collect(self) -> Generator[None]:
        """Ends its body at a `ConfigurationError`, which is added."""
        try:
            yield
        except ConfigurationError as error:
            self.add(error)

    def check(self) -> None:
        """Raises `ConfigurationError` for what was added, if anything."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise InvalidConfigurationError(self._errors)


_HEADER = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]\]?")
_KEY = re.compile(r"[ \t]*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:[ \t]*\.[ \t]*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)[ \t]*=")
_NAME = re.compile(r"[\w-]+|\"[^\"]*\"|'[^']*'")


def place_of(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Returns the line and column, from 1, of the value at `path`; of a value that has no line of its own, those of the
    table that it is in; 1 and 1 for one that is not found.
    """
    table: list[str] = []
    best, depth = (1, 1), 0
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        key = None if header else _KEY.match(line)
        if header:
            table = _names(header[1])
        found = table if header else [*table, *_names(key[1])] if key else []
        if found and len(found) > depth and list(path[: len(found)]) == found:
            best, depth = (number, len(line) - len(line.lstrip(" \t")) + 1), len(found)
    return best


def _names(dotted: str) -> list[str]:
    return [name.strip("\"'") for name in _NAME.findall(dotted)]


T = TypeVar("T")
_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a document, at `path` from its root."""

    document: Document
    values: Mapping[str, Any]
    path: tuple[str, ...] = ()

    def error(self, problem: str, *names: str, hint: str | None = None) -> ConfigurationError:
        """Returns an error about the value at `names` below this table."""
        path = (*self.path, *names)
        where = ".".join(path)
        line, column = place_of(self.document.text, path)
        return self.document.error(f"{where}: {problem}" if where else problem, line, column, hint)

    def table(self, name: str) -> Table:
        """Returns the table `name` in this one, an empty one if there is none; raises `ConfigurationError` for any
        other value.
        """
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            raise self.error(f"expected a table, got {shown(value)}", name)
        return Table(self.document, cast("dict[str, Any]", value), (*self.path, name))

    def tables(self) -> dict[str, Table]:
        """Returns the tables in this one, by name."""
        return {name: self.table(name) for name in self.values}

    def check_names(self, known: Sequence[str], what: str) -> None:
        """Raises `ConfigurationError`, with similar names, for names that are none of `known`."""
        problems = Problems()
        for name in self.values:
            if name not in known:
                problems.add(self.unknown(name, known, what))
        problems.check()

    def unknown(self, name: str, known: Collection[str], what: str) -> ConfigurationError:
        """Returns the error of a name that is none of `known`, with similar names."""
        near = nearest_names(name[:100], known)
        names = f"The names are {', '.join(known)}."
        options = " Options of create_llm are written as in options.temperature = 0.2." if "options" in known else ""
        hint = did_you_mean(near) if near else names + options
        return self.error(f"there is no such {what}", name, hint=hint)

    def read(self, cls: type[T]) -> T:
        """Returns an object of a dataclass with the values of this table; raises `ConfigurationError` for all that is
        wrong with them.
        """
        of_class: Any = cls
        known: dict[str, Field[Any]] = {each.name: each for each in fields(of_class)}
        types_of = get_type_hints(cls)
        values: dict[str, Any] = {}
        problems = Problems()
        for name, value in self.values.items():
            with problems.collect():
                if name not in known:
                    raise self.unknown(name, list(known), "setting")
                values[name] = self._value(value, types_of[name], known[name])
        for name, each in known.items():
            if name not in self.values and each.default is MISSING and each.default_factory is MISSING:
                problems.add(self.error(f"`{name}` is required", name))
        problems.check()
        return cls(**values)

    def _value(self, value: Any, expected: Any, field: Field[Any]) -> Any:
        name = field.name
        options = [each for each in _alternatives(expected) if each is not types.NoneType]
        for option in options:
            found = _convert(value, option)
            if found is not MISSING:
                self._check_range(found, field)
                return found
        raise self.error(f"expected {' or '.join(map(_word, options))}, got {shown(value)}", name)

    def _check_range(self, value: Any, field: Field[Any]) -> None:
        least, most = field.metadata.get("least"), field.metadata.get("most")
        if least is not None and value < least:
            raise self.error(f"must be at least {least}, got {value}", field.name)
        if most is not None and value > most:
            raise self.error(f"must be at most {most}, got {value}", field.name)


def _alternatives(expected: Any) -> Sequence[Any]:
    return get_args(expected) if get_origin(expected) in (Union, types.UnionType) else (expected,)


def _convert(value: Any, expected: Any) -> Any:
    """Returns a TOML value as one of a type; `MISSING` if it is none."""
    origin = get_origin(expected)
    if origin is Literal:
        return value if value in get_args(expected) else MISSING
    if origin is tuple:
        if isinstance(value, str):
            value = [value]
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        return tuple(items) if all(isinstance(item, str) for item in items) else MISSING
    if origin is not None:
        return cast(object, value) if isinstance(value, dict) else MISSING
    if expected is float and type(value) is int:
        return float(value)
    return value if type(value) is expected else MISSING


def _word(expected: Any) -> str:
    origin = get_origin(expected)
    if origin is Literal:
        return " or ".join(map(repr, get_args(expected)))
    return "a list of strings" if origin is tuple else "a table" if origin is not None else _WORDS[expected]


def from_environment(cls: type[Any], prefix: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the values of a table that the environment has, as TOML values: `PREFIX_NAME` for `name`.

    A list is a text with commas.
    """
    types_of = get_type_hints(cls)
    found: dict[str, Any] = {}
    for each in fields(cls):
        text = environment.get(f"{prefix}_{each.name.upper()}")
        if text is None:
            continue
        origin = get_origin(types_of[each.name])
        found[each.name] = [item.strip() for item in text.split(",")] if origin is tuple else _toml_value(text)
    return found


def _toml_value(text: str) -> Any:
    """Returns a number or a truth value; any other text as it is."""
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | float) else text
