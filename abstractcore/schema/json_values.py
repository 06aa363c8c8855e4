"""Types of JSON values, and checks of the values of schema fields."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
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
"""The maximum nesting: more than any vendor accepts, and far below Python's recursion limit."""

_NAMES: dict[type, str] = {str: "text"}
_MAX_INTEGER_BITS = 1024
"""Most JSON readers turn a larger integer into infinity, and Python may refuse to write it."""
_MAX_DECIMAL_DIGITS = 50
"""The maximum number of digits before and after the decimal point."""


def check_text(text: object, path: str = "") -> str:
    """Returns `text` as a plain str; raises `SchemaError` for another type or a lone surrogate (not valid UTF-8)."""
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
    """Returns `number` as a float; raises `SchemaError` for NaN, infinities and integers that are too large."""
    try:
        return float(check_number(number, path))
    except OverflowError:
        raise SchemaError("is too large", path) from None


def check_number(number: float, path: str = "") -> float:
    """Returns `number`; raises `SchemaError` for NaN, infinities and integers too large for most JSON readers."""
    if isinstance(number, int):
        if number.bit_length() > _MAX_INTEGER_BITS:
            raise SchemaError(f"an integer of {number.bit_length():,} bits is too large", path)
    elif not math.isfinite(number):
        raise SchemaError(f"{number} is not a JSON number", path)
    return number


def check_real(number: object, path: str = "") -> float:
    """Returns `number` if it is an integer or a float in the range of JSON; raises `SchemaError` for anything else."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise SchemaError(f"expected a number, got {type(number).__name__}", path)
    return check_number(number, path)


def check_count(number: object, path: str = "") -> int:
    """Returns `number` if it is an integer of at least 0; raises `SchemaError` for anything else, also for a bool."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise SchemaError(f"expected an integer, got {type(number).__name__}", path)
    if number < 0:
        raise SchemaError("must not be negative", path)
    return cast(int, check_number(number, path))


def check_decimal(number: object, path: str = "") -> Decimal:
    """Returns a finite `Decimal` of at least 0 without trailing zeros, so that equal numbers are written alike.

    Raises `SchemaError` for another type (a float is inexact), and for more than 50 digits before or after the point.
    """
    if not isinstance(number, Decimal):
        hint = "Write it as Decimal('0.0125')." if isinstance(number, int | float) else None
        raise SchemaError(f"expected a Decimal, got {type(number).__name__}", path, hint=hint)
    if not number.is_finite():
        raise SchemaError(f"{number} is not a JSON number", path)
    if not number:
        return Decimal(0)
    if number < 0:
        raise SchemaError("must not be negative", path)
    if not -_MAX_DECIMAL_DIGITS <= number.adjusted() < _MAX_DECIMAL_DIGITS:
        raise SchemaError(f"has more than {_MAX_DECIMAL_DIGITS} digits before or after the decimal point", path)
    plain = number.normalize(Context(prec=len(number.as_tuple().digits)))
    if cast(int, plain.as_tuple().exponent) < -_MAX_DECIMAL_DIGITS:
        raise SchemaError(f"has more than {_MAX_DECIMAL_DIGITS} digits after the decimal point", path)
    return Decimal(f"{plain:f}")


def check_flag(flag: object, path: str) -> None:
    """Raises `SchemaError` unless `flag` is a bool."""
    if not isinstance(flag, bool):
        raise SchemaError(f"expected True or False, got {type(flag).__name__}", path)


def check_class(value: object, cls: type, path: str) -> None:
    """Raises `SchemaError` unless `value` is a `cls`."""
    if not isinstance(value, cls):
        raise SchemaError(f"expected {_NAMES.get(cls, f'a {cls.__name__}')}, got {type(value).__name__}", path)


def check_choice(value: object, choices: Sequence[str], path: str) -> None:
    """Raises `SchemaError` unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise SchemaError(f"{shown(value)} is not one of {', '.join(choices)}", path)


def check_items(items: object, cls: type[T], path: str) -> tuple[T, ...]:
    """Returns a list or tuple as a tuple; raises `SchemaError` for another type, or an item that is not a `cls`."""
    if type(items) is tuple and not items:
        return ()
    if not isinstance(items, (list, tuple)):
        raise SchemaError(f"expected a list, got {type(items).__name__}", path)
    for index, item in enumerate(cast("list[object]", items)):
        if not isinstance(item, cls):
            check_class(item, cls, f"{path}[{index}]")
    return tuple(cast("list[T]", items))


def check_depth(depth: int, path: str = "") -> None:
    """Raises `SchemaError` at `MAX_DEPTH`."""
    if depth >= MAX_DEPTH:
        raise SchemaError(f"nested deeper than {MAX_DEPTH} levels (or refers to itself)", path)


def check_key(key: object, path: str = "") -> str:
    """Returns `key` if it is text; raises `SchemaError` with the path of its mapping."""
    if not isinstance(key, str):
        raise SchemaError(f"key {shown(key)} is not text", path)
    return check_text(key, path)
