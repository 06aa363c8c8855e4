"""Immutable JSON objects and arrays, which are a dict and a list to their readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, cast

from .base_error import SchemaError
from .json_values import JSONObject, JSONValue, check_depth, check_key, check_number, check_text


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
        return {key: _thawed(item) for key, item in self.items()}


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
        return [_thawed(item) for item in self]


def freeze(value: object, path: str = "") -> JSONValue:
    """Returns an immutable copy of a JSON value: mappings become `FrozenDict`, lists and tuples `FrozenList`.

    Texts and numbers of subclasses (enum members) become plain ones. Raises `SchemaError` with the path for NaN,
    infinities, keys that are not text, other types, lone surrogates and nesting beyond `MAX_DEPTH` (also cycles).
    """
    try:
        return _frozen(value, 0)
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


def _frozen(value: object, depth: int) -> JSONValue:
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
            _put(frozen, name, _frozen(item, depth + 1))
        except SchemaError as error:
            raise error.at(name) from None
    return frozen


def _frozen_items(items: Iterable[object], depth: int) -> FrozenList:
    frozen: FrozenList = list.__new__(FrozenList)
    index = 0
    try:
        for index, item in enumerate(items):  # noqa: B007 - says which item failed
            _append(frozen, _frozen(item, depth + 1))
    except SchemaError as error:
        raise error.at(f"[{index}]") from None
    return frozen


def _thawed(value: JSONValue) -> JSONValue:
    if isinstance(value, FrozenDict):
        return value.__deepcopy__(None)
    return value.__deepcopy__(None) if isinstance(value, FrozenList) else value


_put = cast(Any, dict).__setitem__
_fill = cast(Any, dict).update
_append = cast(Any, list).append
EMPTY: JSONObject = FrozenDict()
