"""JSON Schemas of arguments, written by pydantic: without titles of its own making, the same in every process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

_DEFINITIONS = "#/$defs/"


def object_schema(given: type[BaseModel] | TypeAdapter[Any]) -> dict[str, Any]:
    """Returns the JSON Schema of an object; raises `TypeError` for a type that is none."""
    write = given.model_json_schema if isinstance(given, type) else given.json_schema
    schema: dict[str, Any] = write(schema_generator=_Generator)
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    while "$ref" in schema:  # a recursive type
        schema = {**definitions[schema["$ref"].removeprefix(_DEFINITIONS)], "$defs": definitions}
    if schema.get("type") != "object":
        raise TypeError(f"the arguments of a tool are an object, not {schema.get('type', 'one of several types')}")
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


class _Generator(GenerateJsonSchema):
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as in its base

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Returns False: a title that repeats the name of its field costs tokens."""
        return False

    def encode_default(self, dft: Any) -> Any:
        """Returns a default as JSON; the items of a set sorted, since their order differs between processes."""
        return super().encode_default(_ordered(dft))


def _ordered(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((_ordered(item) for item in cast("set[Any]", value)), key=repr)
    if type(value) in (list, tuple):
        return [_ordered(item) for item in value]
    if type(value) is dict:
        return {key: _ordered(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value
