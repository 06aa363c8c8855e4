"""Changes texts inside other values; a value without changes stays the same object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from ..schema import Blob, SchemaError


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Returns `value` with `change` applied to every text in it: in containers, mappings, schema objects.

    The content of files is not changed. A schema object that becomes invalid is replaced by None.
    """
    if isinstance(value, str):
        return _or_same(value, change(value))
    if isinstance(value, bytes):
        return _or_same(value, change(value.decode("latin-1")).encode("latin-1", "replace"))
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        changed = {with_texts(name, change): with_texts(item, change) for name, item in entries.items()}
        return entries if _same(entries, changed) else changed
    if isinstance(value, tuple | list | set | frozenset):
        return _items(cast("tuple[Any, ...]", value), change)
    if is_dataclass(value) and not isinstance(value, type | Blob):
        return _fields(value, change)
    return cast(Any, value)


def _items(items: Any, change: Callable[[str], str]) -> Any:
    changed = [with_texts(item, change) for item in items]
    if all(before is after for before, after in zip(items, changed, strict=True)):
        return items
    for kind in (tuple, set, frozenset):
        if isinstance(items, kind):
            return cast("Callable[[Any], Any]", kind)(changed)
    return changed


def _fields(value: Any, change: Callable[[str], str]) -> Any:
    before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    changed = {name: with_texts(item, change) for name, item in before.items()}
    if _same(before, changed):
        return value
    try:
        return replace(value, **{name: item for name, item in changed.items() if item is not before[name]})
    except SchemaError:
        return None


def _same(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> bool:
    return len(before) == len(after) and all(
        name is key and item is value for (name, item), (key, value) in zip(before.items(), after.items(), strict=True)
    )


def _or_same(before: Any, after: Any) -> Any:
    return before if before == after else after
