"""Limits on the size of a vendor's schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError

from .rules import SchemaLimits
from .subschemas import ROOT, is_list, subschemas, types_of

_DEFINITIONS = ("$defs", "definitions")


def check_limits(schema: Mapping[str, Any], limits: SchemaLimits) -> None:
    """Raises `InvalidInputError` with the path at which a schema exceeds one of `limits`."""
    if limits.characters is not None:
        _check(len(to_json(schema)), limits.characters, "characters", ROOT)
    counted = _SchemaTotals(limits)
    stack: list[tuple[Any, str, int]] = [(schema, ROOT, 0)]
    while stack:
        node, path, depth = stack.pop()
        if isinstance(node, dict):
            data = cast("Mapping[str, Any]", node)
            counted.add(data, path)
            holds_others = not {"object", "array"}.isdisjoint(types_of(data))
            if holds_others:
                _check(depth, limits.depth, "levels of objects and arrays", path)
            inner = depth + holds_others
            for child, where in subschemas(data, path):
                is_definition = where.startswith(tuple(f"{path}.{name}." for name in _DEFINITIONS))
                stack.append((child, where, 0 if is_definition else inner))


class _SchemaTotals:
    """Totals over a whole schema."""

    def __init__(self, limits: SchemaLimits) -> None:
        self._limits = limits
        self._properties = 0
        self._values = 0
        self._characters = 0
        self._optional = 0
        self._unions = 0

    def add(self, node: Mapping[str, Any], path: str) -> None:
        """Counts one schema; raises `InvalidInputError` if a limit is exceeded."""
        for keyword in ("properties", *_DEFINITIONS):
            named = node.get(keyword)
            if isinstance(named, dict):
                names = cast("Mapping[str, Any]", named)
                self._characters += sum(map(len, names))
                self._properties += len(names) if keyword == "properties" else 0
        self._add_choices(node, path)
        values = [node["const"]] if "const" in node else node.get("enum")
        if is_list(values):
            self._add_values(values, path, "enum" in node)
        _check(self._properties, self._limits.properties, "properties", path)
        _check(self._values, self._limits.enum_values, "enum values", path)
        _check(self._characters, self._limits.name_characters, "characters of names and values", path)

    def _add_choices(self, node: Mapping[str, Any], path: str) -> None:
        properties, required = node.get("properties"), node.get("required", ())
        if isinstance(properties, dict):
            needed = set(required) if is_list(required) else set[Any]()
            self._optional += len(cast("Mapping[str, Any]", properties).keys() - needed)
        self._unions += "anyOf" in node or is_list(node.get("type"))
        _check(self._optional, self._limits.optional, "optional properties", path)
        _check(self._unions, self._limits.unions, "unions", path)

    def _add_values(self, values: Any, path: str, is_enum: bool) -> None:
        characters = sum(len(value) for value in values if isinstance(value, str))
        self._characters += characters
        self._values += len(values) if is_enum else 0
        long = self._limits.long_enum
        if long is not None and len(values) > long[0]:
            _check(characters, long[1], f"characters in an enum of more than {long[0]} values", f"{path}.enum")


def _check(count: int, limit: int | None, what: str, path: str) -> None:
    if limit is not None and count > limit:
        raise InvalidInputError(f"more than {limit:,} {what} are not supported here", path=path)
