"""JSON that came from outside, read with care: every access says what it expects and gives None for anything else."""

from __future__ import annotations

import json
from typing import Any, TypeAlias, cast

import jiter

Object: TypeAlias = dict[str, Any]


def read_json(data: bytes) -> Any:
    """The value of a JSON text; raises `ValueError`.

    jiter is several times faster than the standard library, and refuses a byte order mark and lone surrogates, which
    some servers send when they cut text in the middle of a character.
    """
    try:
        return jiter.from_json(data, cache_mode="keys")
    except ValueError:
        return json.loads(data.decode("utf-8-sig"))


def as_object(value: Any) -> Object:
    """`value` if it is an object, else an empty one."""
    return cast(Object, value) if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[Object]:
    """The objects in a list; an empty list for anything else."""
    if not isinstance(value, list):
        return []
    return [cast(Object, item) for item in cast("list[Any]", value) if isinstance(item, dict)]


def text_of(data: Object, key: str) -> str | None:
    """The text at `key`."""
    value = data.get(key)
    return value if isinstance(value, str) else None


def count_of(data: Object, key: str) -> int | None:
    """The whole number at `key`."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
