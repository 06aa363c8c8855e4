"""JSON values inside the schema: checked once, then deeply immutable. Knows nothing of messages or providers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

T = TypeVar("T")

if TYPE_CHECKING:
    JSONValue = None | bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"]
else:
    JSONValue = Any

JSONObject = Mapping[str, JSONValue]

MAX_DEPTH: Final = 100
"""Nesting beyond this is refused: deeper than any vendor takes, far below Python's own recursion limit."""

_NAMES: dict[type, str] = {str: "text"}
_MAX_SHOWN = 80
_MAX_INTEGER_BITS = 1024
"""A larger whole number is infinity to most readers of JSON, and Python may refuse to write it."""


class SchemaError(ValueError):
    """A value does not fit the schema. `path` says where, as in `messages[0].parts[1].text`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.message = message
        self.path = path

    def at(self, prefix: str) -> SchemaError:
        """The same error seen from further out: `prefix` is put before its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return SchemaError(self.message, f"{prefix}{joint}{self.path}")


class FrozenDict(dict[str, JSONValue]):
    """A dict that refuses changes, so that `json.dumps` and type checks see a dict and nobody can alter a call.

    What it is made from is frozen too; raises `SchemaError` as `freeze` does.
    """

    __slots__ = ()

    def __new__(cls, values: Mapping[str, object] | None = None, /) -> FrozenDict:
        if values is not None and not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a mapping, got {type(values).__name__}")
        return _freeze_mapping(values or {}, "", 0)

    def __init__(self, values: Mapping[str, object] | None = None, /) -> None:
        """Nothing: `__new__` has filled it, and calling this again must not change it."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("this mapping belongs to an immutable message or call; make a copy with dict(...)")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = cast(Any, _refuse)

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, JSONValue]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


def shown(value: object) -> str:
    """`value` for an error message: short, and never an error of its own."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


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


def freeze(value: object, path: str = "", depth: int = 0) -> JSONValue:
    """Return an immutable copy of a JSON value: mappings become `FrozenDict`, sequences tuples.

    Texts and numbers of a class of their own (an enum's) become plain ones. Raises `SchemaError` with the path for NaN,
    infinities, keys that are not text, other types, lone surrogates and nesting beyond `MAX_DEPTH` (cycles, too).
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(value, path)
    if isinstance(value, int):
        return int.__int__(cast(int, check_number(value, path)))
    if isinstance(value, float):
        return float.__float__(check_number(value, path))
    check_depth(depth, path)
    if isinstance(value, Mapping):
        return _freeze_mapping(value, path, depth)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return tuple(freeze(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    raise SchemaError(f"{type(value).__name__} is not a JSON value", path)


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


def _freeze_mapping(value: Mapping[Any, object], path: str, depth: int) -> FrozenDict:
    frozen: FrozenDict = dict.__new__(FrozenDict)
    for key, item in value.items():
        _put(frozen, check_key(key, path), freeze(item, f"{path}.{key}" if path else key, depth + 1))
    return frozen


_put = cast(Any, dict).__setitem__
EMPTY: JSONObject = FrozenDict()


def freeze_object(value: object, path: str = "") -> JSONObject:
    """As `freeze`, for a value that must be a mapping."""
    if type(value) is FrozenDict:
        return value
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected a mapping, got {type(value).__name__}", path)
    if not value:
        return EMPTY
    return _freeze_mapping(value, path, 0)  # pyright: ignore[reportUnknownArgumentType]


def freeze_given(value: object, path: str = "") -> JSONObject:
    """As `freeze_object`, without the entries that are None: what is None was not given."""
    frozen = freeze_object(value, path)
    if None not in frozen.values():
        return frozen
    return FrozenDict({key: item for key, item in frozen.items() if item is not None})
