"""Reads values of annotated types from JSON or TOML data. An invalid value is a `SchemaError` with its path."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from ..errors import SchemaError
from ..registry import name_hint
from ..schema import freeze
from ..schema.base_error import shown
from ..schema.json_values import as_float

Reader: TypeAlias = Callable[[object, str], Any]

_MOST = 10**15
"""Far more than any count of tokens, bytes or files."""


def read_object(cls: type, data: object, path: str = "") -> Any:
    """Returns an object of a dataclass, read from a mapping of its fields."""
    values = read_fields(field_readers(cls), data, path)
    try:
        return cls(**values)
    except SchemaError as error:
        raise (error.at(path) if path else error) from None


def read_fields(
    readers: Mapping[str, Reader], data: object, path: str = "", hint: Callable[[str], str] | None = None
) -> dict[str, Any]:
    """Returns the values of a mapping, each read by the reader of its name. `hint` returns that of an unknown name, by
    default one with the names of the readers.
    """
    if not isinstance(data, Mapping):
        raise SchemaError(f"expected an object, got {type(data).__name__}", path)
    values: dict[str, Any] = {}
    for name, value in cast("Mapping[str, object]", data).items():
        where = f"{path}.{name}" if path else str(name)
        if name not in readers:
            raise SchemaError("no such field", where, hint=hint(name) if hint else fields_hint(name, readers))
        values[name] = readers[name](value, where)
    return values


def fields_hint(name: str, known: Iterable[str]) -> str:
    """Returns the hint for an unknown field: known ones that are similar, or where they are described."""
    return name_hint(name, sorted(known), "fields", '"A row" in docs/catalogue.md')


@cache
def field_readers(cls: type) -> Mapping[str, Reader]:
    """Returns a reader for each field of a dataclass."""
    hints = get_type_hints(cls)
    return {field.name: _reader(hints[field.name]) for field in fields(cls)}


@cache
def _reader(hint: Any) -> Reader:
    """Returns the function that reads a value of the type `hint`."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (present,) = (each for each in of if each is not type(None))
        read = _reader(present)
        return lambda data, path: None if data is None else read(data, path)
    if origin is Literal:
        return _choice(of)
    if origin is frozenset:
        item = _reader(of[0])
        return lambda data, path: frozenset(_items(data, path, item))
    if origin is tuple:
        item = _reader(of[0])
        if of[-1] is Ellipsis:
            return lambda data, path: tuple(_items(data, path, item))
        return _pair(item) if of[0] is str else _range(item)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_reader(of[0]), _reader(of[1]))
    if is_dataclass(hint):
        cls = cast("type[Any]", hint)
        return lambda data, path: read_object(cls, data, path)
    return _SCALARS[hint]


def _choice(values: tuple[object, ...]) -> Reader:
    def read(data: object, path: str) -> object:
        if not isinstance(data, str) or data not in values:
            raise SchemaError(f"{shown(data)} is not one of {', '.join(map(str, values))}", path)
        return data

    return read


def _range(number: Reader) -> Reader:
    """Returns the reader of two numbers, the lower one first."""

    def read(data: object, path: str) -> tuple[Any, ...]:
        numbers = tuple(_items(data, path, number))
        if len(numbers) != 2 or numbers[0] > numbers[1]:
            raise SchemaError(f"expected the lowest and the highest value, got {shown(data)}", path)
        return numbers

    return read


def _pair(item: Reader) -> Reader:
    """Returns the reader of two texts."""

    def read(data: object, path: str) -> tuple[Any, ...]:
        pair = tuple(_items(data, path, item))
        if len(pair) != 2:
            raise SchemaError(f"expected two names, got {shown(data)}", path)
        return pair

    return read


def _mapping(key: Reader, item: Reader) -> Reader:
    def read(data: object, path: str) -> Mapping[Any, Any]:
        if not isinstance(data, Mapping):
            raise SchemaError(f"expected an object, got {type(data).__name__}", path)
        given = cast("Mapping[str, object]", data)
        return MappingProxyType({key(name, path): item(value, f"{path}.{name}") for name, value in given.items()})

    return read


def _list(data: object, path: str) -> list[object]:
    if not isinstance(data, list | tuple | set | frozenset):
        raise SchemaError(f"expected a list, got {type(data).__name__}", path)
    return list(cast("Iterable[object]", data))


def _items(data: object, path: str, item: Reader) -> list[Any]:
    return [item(each, f"{path}[{i}]") for i, each in enumerate(_list(data, path))]


def _text(data: object, path: str) -> str:
    if not isinstance(data, str) or not data.isprintable():
        raise SchemaError(f"expected text, got {shown(data)}", path)
    return data


def _flag(data: object, path: str) -> bool:
    if not isinstance(data, bool):
        raise SchemaError(f"expected true or false, got {shown(data)}", path)
    return data


def _count(data: object, path: str) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or data < 0:
        raise SchemaError(f"expected an integer of at least 0, got {shown(data)}", path)
    if data > _MOST:
        raise SchemaError(f"expected an integer of at most {_MOST:,}, got {shown(data)}", path)
    return data


def _number(data: object, path: str) -> float:
    if not isinstance(data, int | float) or isinstance(data, bool):
        raise SchemaError(f"expected a number, got {shown(data)}", path)
    as_float(data, path)
    return data


def read_day(data: object, path: str) -> str | None:
    """Returns a day as text, such as "2026-11-22"; or None."""
    return None if data is None else _day(data, path).isoformat()


def _day(data: object, path: str) -> date:
    if type(data) is date:
        return data
    try:
        return date.fromisoformat(cast(str, data))
    except (TypeError, ValueError):
        raise SchemaError(f"expected a date such as 2026-11-22, got {shown(data)}", path) from None


_SCALARS: dict[Any, Reader] = {
    str: _text,
    bool: _flag,
    int: _count,
    float: _number,
    date: _day,
    Any: freeze,
}
