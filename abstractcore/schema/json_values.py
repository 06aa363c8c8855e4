"""Types of JSON values, and checks of the values of schema fields.

Immutable JSON objects and arrays, which are a dict and a list to their readers. Options and fields that only one
provider has, by the provider's name. JSON as models write it: mends a text that is not valid JSON, where its meaning
is clear.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeVar, cast

from .base_error import SchemaError, shown

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


class FrozenDict(dict[str, JSONValue]):
    """An immutable JSON object in a message, call or reply: a dict that raises `TypeError` for changes.

    It equals a plain dict of the same content, and `isinstance`, `json.dumps`, `match`, JSON Schema validators and
    pydantic treat it as one. Like a dict, it is made from a mapping or from pairs; nested values are frozen too.
    `copy.deepcopy(...)` returns a plain dict of plain dicts and lists; `dict(...)`, `.copy()`, `copy.copy(...)` and `|`
    return a plain dict whose values are still frozen. Pickling keeps it frozen. Raises `SchemaError` as `freeze` does.
    """

    __slots__ = ()

    def __new__(cls, values: Mapping[str, object] | Iterable[tuple[str, object]] = (), /) -> FrozenDict:
        if isinstance(values, Mapping):
            return _frozen_mapping(cast("Mapping[Any, object]", values), 0)
        try:
            given: dict[Any, object] = dict(values)
        except (TypeError, ValueError):
            raise SchemaError(f"expected a mapping, got {type(values).__name__}") from None
        return _frozen_mapping(given, 0)

    def __init__(self, values: Mapping[str, object] | Iterable[tuple[str, object]] = (), /) -> None:
        """Does nothing: `__new__` sets the content, and a second call must not change it."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "this JSON object belongs to an immutable message or call; change a copy of it: copy.deepcopy(...)"
        )

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = cast(Any, _refuse)

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, JSONValue]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> dict[str, JSONValue]:
        return dict(self)

    def __deepcopy__(self, memo: object) -> dict[str, JSONValue]:
        return {key: _thaw_value(item) for key, item in self.items()}


class FrozenList(list[JSONValue]):
    """An immutable JSON array in a message, call or reply: a list that raises `TypeError` for changes.

    `copy.deepcopy(...)` returns a plain list of plain lists and dicts; `list(...)`, `.copy()`, `copy.copy(...)`,
    slices, `+` and `*` return a plain list whose items are still frozen.
    """

    __slots__ = ()

    def __new__(cls, values: Iterable[object] = (), /) -> FrozenList:
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a list, got {type(cast(object, values)).__name__}")
        return _frozen_items(values, 0)

    def __init__(self, values: Iterable[object] = (), /) -> None:
        """Does nothing: `__new__` sets the content, and a second call must not change it."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            "this JSON array belongs to an immutable message or call; change a copy of it: copy.deepcopy(...)"
        )

    __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = cast(Any, _refuse)
    sort = reverse = __iadd__ = __imul__ = cast(Any, _refuse)

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[JSONValue]]]:
        return FrozenList, (list(self),)

    def __copy__(self) -> list[JSONValue]:
        return list(self)

    def __deepcopy__(self, memo: object) -> list[JSONValue]:
        return [_thaw_value(item) for item in self]


def freeze(value: object, path: str = "") -> JSONValue:
    """Returns an immutable copy of a JSON value: mappings become `FrozenDict`, lists and tuples `FrozenList`.

    Texts and numbers of subclasses (enum members) become plain ones. Raises `SchemaError` with the path for NaN,
    infinities, keys that are not text, other types, lone surrogates and nesting beyond `MAX_DEPTH` (also cycles).
    """
    try:
        return _freeze_value(value, 0)
    except SchemaError as error:
        raise error.at(path) if path else error from None


def freeze_object(value: object, path: str = "") -> JSONObject:
    """Returns an immutable copy of a mapping, as `freeze` does; raises `SchemaError` for other types."""
    if type(value) is FrozenDict:
        return value
    if type(value) is not dict and not isinstance(value, Mapping):
        raise SchemaError(f"expected a mapping, got {type(value).__name__}", path)
    if not value:
        return EMPTY
    return cast(JSONObject, freeze(cast(object, value), path))


def freeze_checked(values: dict[str, int]) -> FrozenDict:
    """Returns a frozen copy of values that are known to be JSON numbers."""
    frozen: FrozenDict = dict.__new__(FrozenDict)
    _fill(frozen, values)
    return frozen


def freeze_without_none(value: object, path: str = "") -> JSONObject:
    """Returns an immutable copy of a mapping without the entries that are None, which count as not given."""
    frozen = freeze_object(value, path)
    if None not in frozen.values():
        return frozen
    return FrozenDict({key: item for key, item in frozen.items() if item is not None})


def _freeze_value(value: object, depth: int) -> JSONValue:
    """Frequent types come first. Paths are built only when an error propagates."""
    if type(value) is str:
        return value if value.isascii() else check_text(value)
    if value is None or type(value) is bool:
        return value
    if type(value) is int:
        return check_number(value)
    if type(value) is dict or isinstance(value, Mapping):
        check_depth(depth)
        return _frozen_mapping(cast("Mapping[Any, object]", value), depth)
    if isinstance(value, list | tuple):
        check_depth(depth)
        return _frozen_items(cast("list[object]", value), depth)
    if isinstance(value, int):
        return int.__int__(cast(int, check_number(value)))
    if isinstance(value, float):
        return float.__float__(check_number(value))
    if isinstance(value, str):
        return check_text(value)
    raise SchemaError(f"{type(value).__name__} is not a JSON value")


def _frozen_mapping(value: Mapping[Any, object], depth: int) -> FrozenDict:
    frozen: FrozenDict = dict.__new__(FrozenDict)
    for key, item in value.items():
        name = key if type(key) is str and key.isascii() else check_key(key)
        try:
            _put(frozen, name, _freeze_value(item, depth + 1))
        except SchemaError as error:
            raise error.at(name) from None
    return frozen


def _frozen_items(items: Iterable[object], depth: int) -> FrozenList:
    frozen: FrozenList = list.__new__(FrozenList)
    index = 0
    try:
        for index, item in enumerate(items):  # noqa: B007 - says which item failed
            _append(frozen, _freeze_value(item, depth + 1))
    except SchemaError as error:
        raise error.at(f"[{index}]") from None
    return frozen


def _thaw_value(value: JSONValue) -> JSONValue:
    if isinstance(value, FrozenDict):
        return value.__deepcopy__(None)
    return value.__deepcopy__(None) if isinstance(value, FrozenList) else value


_put = cast(Any, dict).__setitem__
_fill = cast(Any, dict).update
_append = cast(Any, list).append
EMPTY: JSONObject = FrozenDict()


ProviderOptions: TypeAlias = Mapping[str, JSONObject]
"""Mappings by provider, with the field names of that provider."""

NO_OPTIONS = cast(ProviderOptions, EMPTY)


def checked_provider_options(options: object, path: str = "provider_options") -> ProviderOptions:
    """Returns `options` frozen, without options that are None and providers without options.

    Raises `SchemaError` with the path unless `options` is a mapping of mappings.
    """
    given: dict[str, JSONObject] = {}
    for provider, values in freeze_object(options, path).items():
        of_provider = freeze_without_none(values, f"{path}.{provider}")
        if of_provider:
            given[provider] = of_provider
    return cast(ProviderOptions, freeze_object(given))


_BLANK: Final = " \t\r\n"
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_DECODER: Final = json.JSONDecoder(strict=False)


def repaired_json(text: str) -> str | None:
    """Returns `text` as valid JSON: a value with its control characters escaped, or the one object that it repeats.

    Empty objects before an object are left out. Returns None for any other text, such as one of two different objects.
    """
    values: list[tuple[Any, str]] = []
    position = _skipped(text, 0)
    try:
        while position < len(text):
            value, end = _DECODER.raw_decode(text, position)
            values.append((value, text[position:end]))
            position = _skipped(text, end)
    except (ValueError, RecursionError):
        return None
    while len(values) > 1 and values[0][0] == {}:
        del values[0]
    is_one = len(values) == 1 or (bool(values) and _is_repeated([value for value, _ in values]))
    return escape_controls(values[0][1]) if is_one else None


def escape_controls(text: str) -> str:
    """Returns a JSON text with the control characters in its strings escaped. The last string may be incomplete."""
    return _STRING.sub(lambda string: _CONTROL.sub(_escape, string[0]), text)


def _escape(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"


def _skipped(text: str, position: int) -> int:
    """Returns the position of the next character that is not blank."""
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _is_repeated(values: list[object]) -> bool:
    """Returns whether all are the same object. Python finds 1, 1.0 and true equal; their JSON differs."""
    if not all(isinstance(value, dict) for value in values):
        return False
    return len({json.dumps(cast("dict[str, Any]", value), sort_keys=True) for value in values}) == 1
