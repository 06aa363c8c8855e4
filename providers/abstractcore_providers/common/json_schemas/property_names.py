"""Names of properties that a vendor refuses, replaced in a schema: wherever it has properties, or names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from abstractcore.schema import JSONObject

from ..name_rules import NameRule
from .changes import RewritingCache, SchemaChanges
from .references import renamed_reference
from .subschemas import KINDS, ROOT, Node, is_list

_DATA = frozenset({"const", "default", "enum", "examples"})
_BY_PROPERTY = frozenset({"dependencies", "dependentRequired", "dependentSchemas"})
_NAMES = frozenset({"required", "propertyOrdering"})
_VALUES = frozenset({"const", "enum"})
_RECENT: RewritingCache[Mapping[str, str]] = RewritingCache()


def sent_properties(schema: JSONObject, rule: NameRule | None) -> Mapping[str, str]:
    """Returns, for each property anywhere in a schema that `rule` refuses, the name that is sent in its place."""
    if rule is None or not schema:
        return {}
    found = _RECENT.find(schema, rule)
    if found is None:
        names, parts = _properties_of(schema)
        found = rule.replacements(names)
        _RECENT.keep(schema, rule, found, parts)
    return found


def _properties_of(schema: JSONObject) -> tuple[list[str], int]:
    """Returns the names of all properties in a schema, which may be invalid, and the number of its parts."""
    names: list[str] = []
    stack: list[Any] = [schema]
    parts = 0
    while stack:
        node = stack.pop()
        parts += 1
        if is_list(node):
            stack += node
        elif isinstance(node, dict):
            for keyword, value in cast(Node, node).items():
                kind = KINDS.get(keyword)
                if kind == "named" and isinstance(value, dict):
                    held = cast(Node, value)
                    names += held if keyword == "properties" else ()
                    stack += held.values()
                elif kind is not None:
                    stack.append(value)
    return names, parts


def with_sent_properties(
    schema: Mapping[str, Any], names: Mapping[str, str], changes: SchemaChanges
) -> Mapping[str, Any]:
    """Returns a valid schema with `names` for its properties. Changes are added to `changes`."""
    return cast("Mapping[str, Any]", _PropertyRenamer(names, changes).schema(schema, ROOT))


class _PropertyRenamer:
    def __init__(self, names: Mapping[str, str], changes: SchemaChanges) -> None:
        self._names = names
        self._changes = changes

    def schema(self, value: Any, path: str) -> Any:
        """Returns a subschema, or a list of them."""
        if is_list(value):
            return [self.schema(item, f"{path}[{index}]") for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        node = cast(Node, value)
        return {keyword: self._subschemas(keyword, item, f"{path}.{keyword}") for keyword, item in node.items()}

    def _subschemas(self, keyword: str, value: Any, path: str) -> Any:
        if keyword == "properties":
            return self._by_name(value, path, lambda item, name: self._property(item, name, f"{path}.{name}"))
        if keyword in _BY_PROPERTY:
            return self._by_name(value, path, lambda item, name: self._dependent(item, f"{path}.{name}"))
        if keyword in _NAMES:
            return self._name_or_names(value)
        if keyword == "propertyNames":
            return self._schema_of_names(value, path)
        if keyword in _DATA:
            return self._data(value)
        if keyword == "$ref":
            return renamed_reference(value, self._names)
        kind = KINDS.get(keyword)
        if kind == "named" and isinstance(value, dict):
            return {name: self.schema(item, f"{path}.{name}") for name, item in cast(Node, value).items()}
        return value if kind is None else self.schema(value, path)

    def _by_name(self, value: Any, path: str, write: Callable[[Any, str], Any]) -> Any:
        if not isinstance(value, dict):
            return value
        return {self._names.get(name, name): write(item, name) for name, item in cast(Node, value).items()}

    def _property(self, value: Any, name: str, path: str) -> Any:
        """Returns the schema of a property. One with another name is described by its own."""
        node = self.schema(value, path)
        if name not in self._names:
            return node
        self._changes.same(path, f"is named {self._names[name]}")
        if not isinstance(node, dict) or "$ref" in node:
            return cast(Any, node)
        described = cast(Node, node)
        description = described.get("description")
        return {**described, "description": f"{name}: {description}" if description else name}

    def _dependent(self, value: Any, path: str) -> Any:
        return self._name_or_names(value) if is_list(value) else self.schema(value, path)

    def _name_or_names(self, value: Any) -> Any:
        if is_list(value):
            return [self._name_or_names(item) for item in value]
        return self._names.get(value, value) if isinstance(value, str) else value

    def _schema_of_names(self, value: Any, path: str) -> Any:
        node = self.schema(value, path)
        if not isinstance(node, dict):
            return node
        held = cast(Node, node)
        return {key: self._name_or_names(item) if key in _VALUES else item for key, item in held.items()}

    def _data(self, value: Any) -> Any:
        """Returns a value that the schema names, with the properties that the model then writes."""
        if is_list(value):
            return [self._data(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {self._names.get(name, name): self._data(item) for name, item in cast(Node, value).items()}
