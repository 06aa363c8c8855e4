"""Tolerant reading of received JSON: each access states the expected type and returns None for any other.

The readers of a field note a value of any other type but null, which is a warning of the reply (`unread_values`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import jiter

from .surrogates import mend
from .unread_values import note_unread

Object: TypeAlias = dict[str, Any]
Cut: TypeAlias = Mapping[str, "Cut"]
"""Names of texts that a stream may split within a character, as a tree."""


def read_json(data: bytes) -> Any:
    """Parses a JSON text, including values that the schema rejects later; raises `ValueError`.

    jiter is several times faster than the standard library, but rejects a byte order mark and lone surrogates, which
    some servers send when they split text within a character.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return _read_slowly(data, None)


def read_answer(data: bytes, *, keep_surrogates: bool = False) -> Any:
    """As `read_json`, for a provider's response: NaN and infinities become None, lone surrogates U+FFFD.

    With `keep_surrogates`, surrogates are kept, for a stream whose next event may contain the other half.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        value = _read_slowly(data, _nothing)
        return value if keep_surrogates else mended(value)


def read_event(data: bytes, cut: Cut) -> Any:
    """As `read_answer`, but keeps lone surrogates in the texts that `cut` names: the next event may contain the other
    halves.

    `cut` has an empty mapping for a text, and one of names for an object; lists in between are traversed.
    """
    try:
        return jiter.from_json(data, allow_inf_nan=False)
    except ValueError:
        return mended(_read_slowly(data, _nothing), cut)


def _read_slowly(data: bytes, constant: Callable[[str], Any] | None) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _nothing(constant: str) -> None:
    return None


def mended(value: Any, cut: Cut | None = None) -> Any:
    """Replaces lone surrogates in the texts of a JSON value, except for those that `cut` names."""
    if isinstance(value, str):
        return mend(value) if cut is None or cut else value
    if isinstance(value, list):
        return [mended(item, cut or None) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        names = cut or {}
        return {mend(key): mended(item, names.get(key)) for key, item in cast(Object, value).items()}
    return value


MAX_COUNT = 2**63


def as_object(value: Any) -> Object:
    """Returns `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def as_objects(value: Any) -> list[Object]:
    """Returns the objects in a list; an empty list for anything else."""
    if not isinstance(value, list):
        return []
    return [cast(Object, item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def object_of(data: Mapping[str, Any], key: str) -> Object:
    """Returns the object at `key`; an empty one if there is none."""
    value = data.get(key)
    if isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType]
    if value is not None:
        note_unread(key, "an object", value)
    return {}


def objects_of(data: Mapping[str, Any], key: str) -> list[Object]:
    """Returns the objects in the list at `key`; an object in place of the list is its only item."""
    value = data.get(key)
    if not isinstance(value, list):
        if value is None:
            return []
        note_unread(key, "a list", value)
        return [cast(Object, value)] if value and isinstance(value, dict) else []
    items = cast("list[Any]", value)
    objects = [cast(Object, item) for item in items if isinstance(item, dict)]
    if len(objects) < len(items):
        note_unread(key, "an object", next(item for item in items if not isinstance(item, dict)))
    return objects


def texts_of(data: Mapping[str, Any], key: str) -> list[str]:
    """Returns the texts in the list at `key`."""
    return _items_of(data, key, "a text", lambda item: isinstance(item, str))


def counts_of(data: Mapping[str, Any], key: str) -> list[int]:
    """Returns the counts in the list at `key`."""
    return _items_of(data, key, "a count", _is_count)


def _items_of(data: Mapping[str, Any], key: str, expected: str, is_expected: Callable[[Any], bool]) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        if value is not None:
            note_unread(key, "a list", value)
        return []
    items = cast("list[Any]", value)
    for item in items:
        if not is_expected(item):
            note_unread(key, expected, item)
    return [item for item in items if is_expected(item)]


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_COUNT


def text_of(data: Object, key: str) -> str | None:
    """Returns the text at `key`."""
    value = data.get(key)
    if isinstance(value, str):
        return value
    if value is not None:
        note_unread(key, "a text", value)
    return None


def flag_of(data: Object, key: str) -> bool:
    """Whether `key` is true."""
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        note_unread(key, "true or false", value)
    return value is True


def count_of(data: Object, key: str) -> int | None:
    """Returns the count at `key`: an integer that every JSON parser can represent, else None."""
    value = data.get(key)
    if type(value) is int and 0 <= value < MAX_COUNT:
        return value
    if value is not None:
        note_unread(key, "a count", value)
    return None
