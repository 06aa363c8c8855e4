"""JSON values as types, and the checks of what goes into the schema. Knows nothing of messages or providers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from .base_error import SchemaError
from .quoting import shown

T = TypeVar("T")

if TYPE_CHECKING:
    JSONValue = None | bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"]
else:
    JSONValue = Any

JSONObject = Mapping[str, JSONValue]

MAX_DEPTH: Final = 100
"""Nesting beyond this is refused: deeper than any vendor takes, far below Python's own recursion limit."""

_NAMES: dict[type, str] = {str: "text"}
_MAX_INTEGER_BITS = 1024
"""A larger whole number is infinity to most readers of JSON, and Python may refuse to write it."""


def check_text(text: object, path: str = "") -> str:
    """Return `text` as a plain str; raise `SchemaError` for a lone surrogate, which UTF-8 has not, or another type."""
    if type(text) is not str:
        if not isinstance(text, str):
            raise SchemaError(f"expected text, got {type(text).__name__}", path)
        text = str.__str__(text)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise SchemaError(f"lone surrogate at character {error.start}: not valid Unicode text", path) from None
    return text


def as_float(number: float, path: str = "") -> float:
    """Return `number` as a float; raise `SchemaError` for NaN, the infinities, and what is too large for one."""
    try:
        return float(check_number(number, path))
    except OverflowError:
        raise SchemaError("is too large", path) from None


def check_number(number: float, path: str = "") -> float:
    """Return `number`; raise `SchemaError` for NaN, the infinities, and whole numbers too large for most readers."""
    if isinstance(number, int):
        if number.bit_length() > _MAX_INTEGER_BITS:
            raise SchemaError(f"a whole number of {number.bit_length():,} bits is too large", path)
    elif not math.isfinite(number):
        raise SchemaError(f"{number} is not a JSON number", path)
    return number


def check_count(number: object, path: str = "") -> int:
    """Return `number` if it is a whole one, 0 or more; raise `SchemaError` for anything else, bools too."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise SchemaError(f"expected a whole number, got {type(number).__name__}", path)
    if number < 0:
        raise SchemaError("must not be negative", path)
    return cast(int, check_number(number, path))


def check_flag(flag: object, path: str) -> None:
    """Raise `SchemaError` for anything but True and False."""
    if not isinstance(flag, bool):
        raise SchemaError(f"expected True or False, got {type(flag).__name__}", path)


def check_class(value: object, cls: type, path: str) -> None:
    """Raise `SchemaError` for what is no `cls`."""
    if not isinstance(value, cls):
        raise SchemaError(f"expected {_NAMES.get(cls, f'a {cls.__name__}')}, got {type(value).__name__}", path)


def check_choice(value: object, choices: Sequence[str], path: str) -> None:
    """Raise `SchemaError` for what is none of the texts in `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise SchemaError(f"{shown(value)} is not one of {', '.join(choices)}", path)


def check_items(items: object, cls: type[T], path: str) -> tuple[T, ...]:
    """Return a list or tuple as a tuple; raise `SchemaError` for another type, or an item that is no `cls`."""
    if not isinstance(items, list | tuple):
        raise SchemaError(f"expected a list, got {type(items).__name__}", path)
    for index, item in enumerate(cast("list[object]", items)):
        if not isinstance(item, cls):
            check_class(item, cls, f"{path}[{index}]")
    return tuple(cast("list[T]", items))


def check_depth(depth: int, path: str = "") -> None:
    """Raise `SchemaError` at `MAX_DEPTH`."""
    if depth >= MAX_DEPTH:
        raise SchemaError(f"nested deeper than {MAX_DEPTH} levels (or refers to itself)", path)


def check_key(key: object, path: str = "") -> str:
    """Return `key` if it is text; raise `SchemaError` with the path of the mapping it stands in."""
    if not isinstance(key, str):
        raise SchemaError(f"key {shown(key)} is not text", path)
    return check_text(key, path)
