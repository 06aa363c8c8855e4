"""Positions of subschemas in a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeGuard, cast

from abstractcore.errors import InvalidInputError

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
