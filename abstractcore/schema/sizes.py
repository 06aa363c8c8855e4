"""Estimates the memory of schema objects: their texts and bytes, each counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, cast

from .calls import ModelCall
from .parts import MEDIA_PARTS, Part, TextPart, ToolResult

_OBJECT_BYTES = 64
"""The estimated overhead of an object."""


def size_of(value: object) -> int:
    """Returns the estimated bytes of `value` and everything in it; an object that it holds twice counts once."""
    size, seen, rest = 0, set[int](), [value]
    while rest:
        item = rest.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        size += _OBJECT_BYTES
        if isinstance(item, str | bytes):
            size += len(item)
        elif isinstance(item, tuple | list):
            rest += cast("list[object]", item)
        elif isinstance(item, Mapping):
            entries = cast("Mapping[object, object]", item)
            rest += entries
            rest += entries.values()
        else:
            rest += [getattr(item, name) for name in _names(type(item))]
    return size


@cache
def _names(cls: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def content_size(call: ModelCall) -> int:
    """Returns the bytes of the texts and files in a call's messages: much faster than `size_of` of the call."""
    return sum(_part_size(part) for message in call.messages for part in message.parts)


def _part_size(part: Part) -> int:
    if isinstance(part, TextPart):
        return len(part.text)
    if isinstance(part, ToolResult):
        return sum(map(_part_size, part.content))
    if isinstance(part, MEDIA_PARTS):
        return len(part.blob.data or b"")
    return size_of(part)
