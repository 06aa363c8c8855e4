"""Applies the changes that warnings describe to JSON data of calls and replies, and compares two such data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, cast

from ..schema import AbstractCoreError, CallWarning, JSONValue, to_data

Data: TypeAlias = "dict[str, JSONValue]"
Trail: TypeAlias = "tuple[str | int, ...]"
_INDEX = re.compile(r"\[(\d+)\]")
_NOT_OFF_BY_DEFAULT = ("parallel_tool_calls", "strict")


class FalseWarningError(AbstractCoreError):
    """A warning that does not describe a real change."""


def full_data(value: object) -> JSONValue:
    """Returns the data of `to_data` with every field, so that a warning can name one at its default."""
    if is_dataclass(value):
        tag = getattr(value, "type", None)
        data = {field.name: full_data(getattr(value, field.name)) for field in fields(cast(Any, value)) if field.init}
        return {"type": tag, **data} if isinstance(tag, str) else data
    if isinstance(value, tuple | list):
        return [full_data(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, Mapping):
        return {key: full_data(item) for key, item in cast("Mapping[str, object]", value).items()}
    return to_data(value)


def changed_as_warned(data: Data, warnings: Sequence[CallWarning]) -> Data:
    """Returns `data` with the path of every warning removed, replaced by `sent`, or moved.

    Raises `FalseWarningError` for a warning of a value that does not exist or did not change.
    """
    edits: dict[Trail, CallWarning] = {}
    for warning in warnings:
        trail = _locate(data, warning)
        if trail in edits:
            raise FalseWarningError(f"{warning.path} has two warnings")
        edits[trail] = warning
    for trail, warning in edits.items():
        for length in range(len(trail)):
            outer = edits.get(trail[:length])
            if outer is not None and outer.code != "reordered":
                raise FalseWarningError(f"{warning.path} lies within {outer.path}, which has a warning too")
    return cast(Data, _rebuilt(data, (), edits))


def _locate(data: Data, warning: CallWarning) -> Trail:
    trail = _walk(data, warning.path)
    if trail is None:
        raise FalseWarningError(f"there is nothing at {warning.path!r}: {warning.message}")
    moved = warning.code == "reordered"
    if moved and not (isinstance(trail[-1], int) and isinstance(warning.sent, int)):
        raise FalseWarningError(f"{warning.path} cannot move to {warning.sent!r}")
    value, sent = _at(data, trail), to_data(warning.sent)
    if not moved and (_is_nothing(value, trail) if sent is None else sent == value):
        raise FalseWarningError(f"{warning.path} was {value!r} before: {warning.message}")
    return trail


def _is_nothing(value: JSONValue, trail: Trail) -> bool:
    """Returns whether `value` can be left out without a change, as a flag that is off by default."""
    if value is False:
        return not trail or trail[-1] not in _NOT_OFF_BY_DEFAULT
    return value is None or value in ("", [], {})


def _walk(node: JSONValue, path: str | None) -> Trail | None:
    """Returns the keys and indexes of `path`; None for an empty path. Keys may contain dots and brackets."""
    if path is None:
        return ()
    if isinstance(node, list):
        index = _INDEX.match(path)
        if index is None or int(index[1]) >= len(node):
            return None
        return _step(int(index[1]), node[int(index[1])], path[index.end() :])
    if isinstance(node, dict):
        for key in sorted(node, key=len, reverse=True):
            trail = _step(key, node[key], path[len(key) :]) if path.startswith(key) else None
            if trail is not None:
                return trail
    return None


def _step(key: str | int, node: JSONValue, rest: str) -> Trail | None:
    if rest and rest[0] not in ".[":
        return None
    trail = _walk(node, rest.removeprefix(".") if rest else None)
    return None if trail is None else (key, *trail)


def _at(node: JSONValue, trail: Trail) -> JSONValue:
    for key in trail:
        node = cast("dict[str | int, JSONValue]", node)[key]
    return node


def _rebuilt(node: JSONValue, trail: Trail, edits: dict[Trail, CallWarning]) -> JSONValue:
    if isinstance(node, dict):
        entries: Data = {}
        for key, item in node.items():
            edit = edits.get((*trail, key))
            if edit is None:
                entries[key] = _rebuilt(item, (*trail, key), edits)
            elif edit.sent is not None:
                entries[key] = to_data(edit.sent)
        return entries
    if isinstance(node, list):
        return _rebuilt_list(node, trail, edits)
    return node


def _rebuilt_list(items: list[JSONValue], trail: Trail, edits: dict[Trail, CallWarning]) -> list[JSONValue]:
    kept: list[JSONValue] = []
    moved: list[tuple[int, JSONValue]] = []
    for index, item in enumerate(items):
        path = (*trail, index)
        edit = edits.get(path)
        if edit is None:
            kept.append(_rebuilt(item, path, edits))
        elif edit.code == "reordered":
            moved.append((cast(int, edit.sent), _rebuilt(item, path, edits)))
        elif edit.sent is not None:
            kept.append(to_data(edit.sent))
    for position, item in sorted(moved, key=lambda entry: entry[0]):
        kept.insert(position, item)
    return kept


def differences(left: JSONValue, right: JSONValue, path: str = "") -> list[str]:
    """Returns the paths in which two JSON values differ, with both values."""
    if isinstance(left, dict) and right is None:
        right = {}
    if isinstance(right, dict) and left is None:
        left = {}
    if isinstance(left, dict) and isinstance(right, dict):
        found: list[str] = []
        for key in {**left, **right}:
            found += differences(left.get(key), right.get(key), f"{path}.{key}" if path else key)
        return found
    if isinstance(left, list) and isinstance(right, list):
        pairs = zip(left, right, strict=False)
        found = [line for i, (one, other) in enumerate(pairs) for line in differences(one, other, f"{path}[{i}]")]
        if len(left) != len(right):
            found.append(f"{path}: {len(left)} became {len(right)}")
        return found
    return [] if type(left) is type(right) and left == right else [f"{path}: {left!r:.80} became {right!r:.80}"]
