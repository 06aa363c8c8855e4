"""JSON Schemas as the provider enforces them: objects are closed, and some keywords are not known.

After https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema limitations". What is left
out loosens the schema for the provider only: the answer is checked against the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.schema import CallWarning, JSONObject

from ..json_reading import Object

_UNKNOWN = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    }
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"},
)
_ONE = ("items",)
_LISTS = ("anyOf", "allOf")
_NAMED = ("properties", "$defs", "definitions")


def enforceable(schema: JSONObject) -> JSONObject:
    """The schema with objects closed and unknown keywords left out."""
    return _rewritten(schema)


def warn_of_rewriting(schema: JSONObject, sent: JSONObject, path: str, warnings: list[CallWarning]) -> None:
    """A warning if another schema is sent."""
    if sent != schema:
        message = "the provider takes objects only, closed if it enforces them; what it does not enforce is left out"
        warnings.append(CallWarning("schema_rewritten", path, message, schema, sent))


def _rewritten(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    schema: Object = {k: v for k, v in cast("Mapping[str, Any]", node).items() if not _is_unknown(k, v)}
    if "oneOf" in schema and "anyOf" not in schema:
        schema["anyOf"] = schema.pop("oneOf")
    for name in _ONE:
        if name in schema:
            schema[name] = _rewritten(schema[name])
    for name in _LISTS:
        if isinstance(schema.get(name), list | tuple):
            schema[name] = tuple(_rewritten(item) for item in schema[name])
    for name in _NAMED:
        if isinstance(schema.get(name), Mapping):
            schema[name] = {key: _rewritten(item) for key, item in schema[name].items()}
    if schema.get("type") == "object" or "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def _is_unknown(name: str, value: Any) -> bool:
    if name == "format":
        return value not in _FORMATS
    return name in _UNKNOWN or (name == "minItems" and value not in (0, 1))
