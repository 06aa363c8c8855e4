"""Converts the API's older schemas, a subset of OpenAPI 3.0 with types in capitals, to JSON Schema."""

from __future__ import annotations

from typing import Any, cast

from abstractcore.errors import InvalidInputError

from ...common.reading import Object

_SCHEMAS = ("items",)
_LISTS_OF_SCHEMAS = ("anyOf", "any_of")
_MAPS_OF_SCHEMAS = ("properties",)
_DEEPEST = 90
_RENAMED = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "min_items": "minItems",
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_properties": "maxProperties",
    "min_properties": "minProperties",
}
_LEFT_OUT = ("nullable", "propertyOrdering", "property_ordering", "example")


def to_json_schema(schema: Any, path: str, depth: int = 0) -> Object:
    """Returns the schema as JSON Schema; raises `InvalidInputError` with the path of an invalid one."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        raise InvalidInputError("expected a schema", path=path)
    converted: Object = {}
    data = cast(Object, schema)
    for name, value in data.items():
        field_path = f"{path}.{name}"
        if name in _LEFT_OUT or value is None:
            continue
        if name in _SCHEMAS:
            value = to_json_schema(value, field_path, depth + 1)
        elif name in _LISTS_OF_SCHEMAS and isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            value = [to_json_schema(item, f"{field_path}[{i}]", depth + 1) for i, item in items]
        elif name in _MAPS_OF_SCHEMAS and isinstance(value, dict):
            entries = cast(Object, value).items()
            value = {key: to_json_schema(item, f"{field_path}.{key}", depth + 1) for key, item in entries}
        elif name == "type" and isinstance(value, str):
            value = _type(value, data.get("nullable") is True)
        converted[_RENAMED.get(name, name)] = value
    return converted


def _type(name: str, nullable: bool) -> Any:
    return [name.lower(), "null"] if nullable else name.lower()
