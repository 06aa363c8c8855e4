"""Positions of subschemas in a JSON Schema, and limits on their number and size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard, cast

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError

from .rules import SchemaLimits

Node: TypeAlias = "dict[str, Any]"
Kind: TypeAlias = Literal["one", "list", "named"]

ROOT = "$"
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems", "contains"), "one"),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), "one"),
    **dict.fromkeys(("not", "if", "then", "else", "contentSchema"), "one"),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), "list"),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"), "named"),
}
"""Keywords with subschemas: one, a list, or by name. `items` may be a list, too, in older schemas."""


def subschemas(node: Mapping[str, Any], path: str) -> Iterator[tuple[Any, str]]:
    """Returns the subschemas directly under `node` with their paths; raises `InvalidInputError` for invalid ones."""
    for keyword in node:
        kind = KINDS.get(keyword)
        if kind is not None:
            yield from _children(node[keyword], kind, f"{path}.{keyword}")


def _children(value: Any, kind: Kind, path: str) -> Iterator[tuple[Any, str]]:
    if kind == "named":
        for name, item in as_named(value, path).items():
            yield item, f"{path}.{name}"
    elif kind == "list" or is_list(value):
        for index, item in enumerate(as_list(value, path)):
            yield item, f"{path}[{index}]"
    else:
        yield value, path


def check_type(value: Any, path: str) -> None:
    """Raises `InvalidInputError` with the path of a value that is neither a type nor a list of types."""
    for name in value if is_list(value) else (value,):
        if not isinstance(name, str) or name not in _TYPES:
            raise InvalidInputError(f"{name!r} is not a type", path=path, hint=f"Types are {', '.join(_TYPES)}.")


def check_schema(value: Any, path: str) -> None:
    """Raises `InvalidInputError` with the path of a value that is not a schema: neither an object nor a boolean."""
    if not isinstance(value, dict | bool):
        raise InvalidInputError("expected a schema", path=path)


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def as_list(value: Any, path: str) -> Sequence[Any]:
    """Returns `value`, a list of schemas; raises `InvalidInputError` with the path of any other value."""
    if not is_list(value):
        raise InvalidInputError("expected a list of schemas", path=path)
    return value


def as_named(value: Any, path: str) -> Mapping[str, Any]:
    """Returns `value`, schemas by name; raises `InvalidInputError` with the path of any other value."""
    if not isinstance(value, dict):
        raise InvalidInputError("expected schemas by name", path=path)
    return cast("Mapping[str, Any]", value)


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the types that a schema names; empty if there are none."""
    value = node.get("type")
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if is_list(value) else ()


def is_object(node: Mapping[str, Any]) -> bool:
    """Whether a schema describes objects, by its type or, without one, by its properties."""
    types = types_of(node)
    return "object" in types if types else "properties" in node


def type_of(value: Any) -> str:
    """Returns the JSON Schema type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "array"


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
