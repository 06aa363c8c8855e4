"""JSON Schemas of clients: what could block the server is refused or removed before answers are validated with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import unquote

from ...errors import InvalidInputError
from ...schema.base_error import shown

_SCHEMA_MAPS = ("$defs", "definitions", "dependentSchemas", "properties")
"""Keywords whose values have schemas by names of the user's own."""
_DATA = ("const", "default", "enum", "examples", "required", "dependentRequired")
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
"""Keywords whose schemas are applied to the value itself; all others with schemas are for values in it."""
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_LONGEST = 65_536
_DEPTH = 30
_MOST_STEPS = 100_000


def safe_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a schema with which validation takes time in proportion to the answer. Raises `InvalidInputError` for
    one that is very long or whose alternatives multiply, and for references that are not to a place in the schema.

    Regular expressions become texts in descriptions: one could take exponential time over a text that a client chose.
    """
    size = len(json.dumps(schema))
    if size > _LONGEST:
        hint = "Extract in several calls, each with a part of the schema."
        raise InvalidInputError(
            f"it has {size:,} characters as JSON; the limit is {_LONGEST:,}", path="schema", hint=hint
        )
    if _Steps(schema).of(schema, _DEPTH) > _MOST_STEPS:
        raise InvalidInputError(
            "its validation could take exponential time: alternatives refer to each other, or to one place many times",
            path="schema",
            hint="Refer to each definition once for a value, without recursion in anyOf, oneOf or allOf.",
        )
    return _without_patterns(schema)


class _Steps:
    """Counts the schemas that are applied along one path into a value, at most `_MOST_STEPS` and one."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[int, int], int] = {}

    def of(self, schema: Any, depth: int) -> int:
        """Returns the number of steps for a value with `depth` levels below it."""
        if not isinstance(schema, Mapping):
            return 1
        node = cast("Mapping[str, Any]", schema)
        key = id(node), depth
        if key not in self._known:
            self._known[key] = _MOST_STEPS + 1  # of a schema that is applied to the value while it is applied to it
            self._known[key] = min(self._counted(node, depth), _MOST_STEPS + 1)
        return self._known[key]

    def _counted(self, node: Mapping[str, Any], depth: int) -> int:
        same = 1 + sum(self.of(each, depth) for name in _SAME_VALUE for each in _schemas(name, node.get(name)))
        if isinstance(node.get("$ref"), str):
            same += self.of(self._target(node["$ref"]), depth)
        if any(name in node for name in ("$dynamicRef", "$recursiveRef")):
            raise InvalidInputError("dynamic references are not accepted", path="schema", hint="Use '$ref'.")
        inner = 0
        if depth:
            inside = (each for name, value in node.items() if _is_inside(name) for each in _schemas(name, value))
            inner = max((self.of(each, depth - 1) for each in inside), default=0)
        return (same + inner) * (2 if any(name in node for name in _UNEVALUATED) else 1)

    def _target(self, reference: str) -> Any:
        found: Any = self._root
        fragment = unquote(reference.removeprefix("#"))
        if not reference.startswith("#") or fragment[:1] not in ("", "/"):
            raise _unknown(reference)
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = cast("Mapping[str, Any]", found)[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(name)]
            else:
                raise _unknown(reference)
        return found


def _unknown(reference: str) -> InvalidInputError:
    return InvalidInputError(
        f"the reference {shown(reference)} is not to a place in the schema",
        path="schema",
        hint="Write what it refers to under '$defs', and refer to '#/$defs/NAME'.",
    )


def _is_inside(name: str) -> bool:
    return name not in (*_SAME_VALUE, *_DATA, "$defs", "definitions")


def _schemas(name: str, value: Any) -> Iterator[Any]:
    """Yields the schemas in the value of a keyword."""
    if isinstance(value, list):
        yield from cast("list[Any]", value)
    elif isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        if name in (*_SCHEMA_MAPS, "patternProperties", "dependencies"):
            yield from entries.values()
        else:
            yield entries


def _without_patterns(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: _cleaned(name, value) for name, value in schema.items() if not _is_expression(name, value)}
    texts = [f"matches the regular expression {schema['pattern']}"] if isinstance(schema.get("pattern"), str) else []
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping) and patterns:
        texts.append(f"has properties whose names match {', '.join(cast('Mapping[str, Any]', patterns))}")
    if texts:
        described = schema.get("description")
        found["description"] = "; ".join([described, *texts] if isinstance(described, str) else texts)
    return found


def _is_expression(name: str, value: Any) -> bool:
    kind = {"pattern": str, "patternProperties": Mapping}.get(name)
    return kind is not None and isinstance(value, kind)


def _cleaned(name: str, value: Any) -> Any:
    if name in _DATA:
        return value
    if name in _SCHEMA_MAPS and isinstance(value, Mapping):
        return {key: _schema(each) for key, each in cast("Mapping[str, Any]", value).items()}
    return _schema(value)


def _schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _without_patterns(cast("Mapping[str, Any]", value))
    return [_schema(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value
