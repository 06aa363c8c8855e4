"""Writes a JSON Schema into a prompt: as a commented type sketch, which is shorter, or as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ..errors import AbstractCoreError
from ..schema import JSONObject, canonical_json

_SKETCH: Final = "Answer with JSON alone, of this form (? marks fields that may be left out, // are comments):\n"
_SCHEMA: Final = "Answer with JSON alone, which is an instance of this JSON Schema:\n"
_SCALARS: Final = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "null"}
_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "format": "format {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "default": "default {}",
}
_IGNORED: Final = frozenset({"title", "$schema", "$defs", "definitions", "$id", "examples", "strict"})
_STRUCTURE: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "oneOf", "$ref"}
)
_READABLE: Final = _IGNORED | _STRUCTURE | _LIMITS.keys() | {"description", "uniqueItems"}
_INDENT: Final = "  "


class _NotSketchableError(AbstractCoreError):
    """The schema has a keyword without a short form."""


def schema_instruction(schema: JSONObject) -> str:
    """Returns the instruction to answer by `schema`, in the shorter of both forms."""
    whole = _SCHEMA + canonical_json(schema)
    sketched = type_sketch(schema)
    return whole if sketched is None or len(_SKETCH + sketched) >= len(whole) else _SKETCH + sketched


def type_sketch(schema: JSONObject) -> str | None:
    """Returns the schema as a type with comments; None if it has a keyword without a form in it, such as `not`.

    A definition that is used more than once, or within itself, is a named type before the main one.
    """
    try:
        return _Sketch(schema).text()
    except (_NotSketchableError, RecursionError):
        return None


class _Sketch:
    def __init__(self, schema: JSONObject) -> None:
        self._schema = cast("Mapping[str, Any]", schema)
        self._named: dict[str, str] = {}
        self._uses: dict[str, int] = {}
        self._open: list[str] = []
        self._shared: set[str] = set()
        self._count(schema)

    def text(self) -> str:
        main = self._type(self._schema, "")
        comment = _comment(self._schema)
        types = [f"{name} = {text}" for name, text in self._named.items()]
        return "\n".join([*types, main + (f" // {comment}" if comment else "")])

    def _count(self, node: Any) -> None:
        """Finds the definitions that need a name."""
        if isinstance(node, list | tuple):
            for each in cast("list[Any]", node):
                self._count(each)
        if not isinstance(node, Mapping):
            return
        fields = cast("Mapping[str, Any]", node)
        reference = fields.get("$ref")
        if isinstance(reference, str):
            self._uses[reference] = self._uses.get(reference, 0) + 1
            if self._uses[reference] == 1:
                self._open.append(reference)
                self._count(self._definition(reference))
                self._open.pop()
            elif reference in self._open or self._uses[reference] > 1:
                self._shared.add(reference)
        for name, each in fields.items():
            if name not in ("$defs", "definitions"):
                self._count(each)

    def _definition(self, reference: str) -> Any:
        node: Any = self._schema
        for step in reference.removeprefix("#/").split("/"):
            node = cast("Mapping[str, Any]", node).get(step) if isinstance(node, Mapping) else None
        if not reference.startswith("#/") or not isinstance(node, Mapping):
            raise _NotSketchableError("the schema cannot be sketched")
        return cast("Mapping[str, Any]", node)

    def _type(self, node: Any, indent: str) -> str:
        if node is True or node == {}:
            return "any"
        if not isinstance(node, Mapping):
            raise _NotSketchableError("the schema cannot be sketched")
        fields = cast("Mapping[str, Any]", node)
        if not fields.keys() <= _READABLE:
            raise _NotSketchableError("the schema cannot be sketched")
        if "$ref" in fields:
            return self._reference(str(fields["$ref"]), indent)
        if "const" in fields:
            return _as_json(fields["const"])
        if "enum" in fields:
            return " | ".join(_as_json(each) for each in fields["enum"])
        for choice in ("anyOf", "oneOf"):
            if choice in fields:
                return " | ".join(self._type(each, indent) + _aside(each) for each in fields[choice])
        kinds = fields.get("type")
        if isinstance(kinds, list | tuple):
            return " | ".join(self._type({**fields, "type": kind}, indent) for kind in cast("list[str]", kinds))
        return self._of_kind(kinds, fields, indent)

    def _of_kind(self, kind: object, fields: Mapping[str, Any], indent: str) -> str:
        if kind == "object" or (kind is None and "properties" in fields):
            return self._object(fields, indent)
        if kind == "array" or (kind is None and "items" in fields):
            items = fields.get("items", True)
            written = self._type(items, indent)
            return f"[{written}{_aside(items)}, ...]"
        if kind is None:
            return "any"
        scalar = _SCALARS.get(str(kind))
        if scalar is None:
            raise _NotSketchableError("the schema cannot be sketched")
        return scalar

    def _object(self, fields: Mapping[str, Any], indent: str) -> str:
        properties = cast("Mapping[str, Any]", fields.get("properties", {}))
        required = set(cast("Sequence[str]", fields.get("required", ())))
        rest = fields.get("additionalProperties", True)
        if not properties:
            return "{" + f'"...": {"any" if rest in (True, False) else self._type(rest, indent)}' + "}"
        deeper = indent + _INDENT
        lines: list[str] = []
        for name, each in properties.items():
            optional = "" if name in required else "?"
            comment = _comment(each)
            line = f"{deeper}{json.dumps(name, ensure_ascii=False)}{optional}: {self._type(each, deeper)}"
            lines.append(line + ("," if not comment else f", // {comment}"))
        if isinstance(rest, Mapping):
            lines.append(f'{deeper}"...": {self._type(rest, deeper)},')
        return "\n".join(["{", *lines, indent + "}"])

    def _reference(self, reference: str, indent: str) -> str:
        definition = self._definition(reference)
        if reference not in self._shared:
            return self._type(definition, indent)
        name = reference.rpartition("/")[2]
        if name not in self._named:
            self._named[name] = ""
            self._named[name] = self._type(definition, "")
        return name


def _comment(node: Any) -> str:
    """Returns the description and the limits of a value, on one line."""
    if not isinstance(node, Mapping):
        return ""
    fields = cast("Mapping[str, Any]", node)
    notes = [" ".join(str(fields["description"]).split())] if fields.get("description") else []
    return "; ".join([*notes, *_limits(fields)])


def _aside(node: Any) -> str:
    limits = _limits(cast("Mapping[str, Any]", node)) if isinstance(node, Mapping) else []
    return f" ({', '.join(limits)})" if limits else ""


def _limits(fields: Mapping[str, Any]) -> list[str]:
    given = [(form, fields[name]) for name, form in _LIMITS.items() if fields.get(name) is not None]
    limits = [form.format(value if isinstance(value, str) else _as_json(value)) for form, value in given]
    return [*limits, "all different"] if fields.get("uniqueItems") else limits


def _as_json(value: Any) -> str:
    return canonical_json(value)
