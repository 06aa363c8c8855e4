"""`changed_paths`: where two JSON values differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def changed_paths(before: Any, after: Any) -> tuple[str, ...]:
    """Returns the paths of `after` that `before` has not, or has with another value, and those that only `before` has,
    as in "messages[0].content"; the empty path for values of different types. Numbers are compared by value.
    """
    return tuple(_changed(before, after, ""))


def _changed(before: Any, after: Any, path: str) -> list[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _changed_members(cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", after), path)
    if isinstance(before, list) and isinstance(after, list):
        return _changed_items(cast("list[Any]", before), cast("list[Any]", after), path)
    is_same = before == after and isinstance(before, bool) == isinstance(after, bool)
    return [] if is_same else [path]


def _changed_items(before: list[Any], after: list[Any], path: str) -> list[str]:
    if len(before) != len(after):
        return [path]
    pairs = enumerate(zip(before, after, strict=True))
    return [each for index, (old, new) in pairs for each in _changed(old, new, f"{path}[{index}]")]


def _changed_members(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> list[str]:
    found: list[str] = []
    for name in (*before, *(name for name in after if name not in before)):
        inner = f"{path}.{name}" if path else name
        if name in before and name in after:
            found += _changed(before[name], after[name], inner)
        else:
            found.append(inner)
    return found
