"""JSON values inside the schema: checked once, then deeply immutable. Knows nothing of messages or providers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    JSONValue = None | bool | int | float | str | Sequence["JSONValue"] | Mapping[str, "JSONValue"]
else:
    JSONValue = Any

JSONObject = Mapping[str, JSONValue]

MAX_DEPTH = 100
"""Nesting beyond this is refused: deeper than any vendor takes, far below Python's own recursion limit."""


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
    """A dict that refuses changes, so that `json.dumps` and type checks see a dict and nobody can alter a call."""

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("this mapping belongs to an immutable message or call; make a copy with dict(...)")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = cast(Any, _refuse)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, JSONValue]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


EMPTY: JSONObject = FrozenDict()


def check_text(text: object, path: str = "") -> str:
    """Return `text` if it is a str that UTF-8 can carry; raise `SchemaError` for a lone surrogate or another type."""
    if not isinstance(text, str):
        raise SchemaError(f"expected text, got {type(text).__name__}", path)
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise SchemaError(f"lone surrogate at character {error.start}: not valid Unicode text", path) from None
    return text


def freeze(value: object, path: str = "", depth: int = 0) -> JSONValue:
    """Return an immutable copy of a JSON value: mappings become `FrozenDict`, sequences tuples.

    Raises `SchemaError` with the path for NaN, infinities, keys that are not text, other types, lone surrogates
    and nesting beyond `MAX_DEPTH` (so also for cycles).
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return check_text(value, path)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise SchemaError(f"{value} is not a JSON number", path)
        return value
    if depth >= MAX_DEPTH:
        raise SchemaError(f"nested deeper than {MAX_DEPTH} levels (or refers to itself)", path)
    if isinstance(value, Mapping):
        return _freeze_mapping(value, path, depth)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return tuple(freeze(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    raise SchemaError(f"{type(value).__name__} is not a JSON value", path)


def _freeze_mapping(value: Mapping[object, object], path: str, depth: int) -> FrozenDict:
    frozen: dict[str, JSONValue] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise SchemaError(f"key {key!r} is not text", path)
        check_text(key, path)
        frozen[key] = freeze(item, f"{path}.{key}" if path else key, depth + 1)
    return FrozenDict(frozen)


def freeze_object(value: object, path: str = "") -> JSONObject:
    """As `freeze`, for a value that must be a mapping."""
    if type(value) is FrozenDict:
        return value
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected a mapping, got {type(value).__name__}", path)
    return _freeze_mapping(value, path, 0)  # pyright: ignore[reportUnknownArgumentType]
