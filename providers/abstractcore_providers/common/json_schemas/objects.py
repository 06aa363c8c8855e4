"""Objects for vendors that enforce schemas: closed, with required properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .rules import Rules
from .subschemas import Node, as_named, is_list, is_object, type_of

_ABOUT_KEYS = frozenset({"properties", "patternProperties", "additionalProperties", "allOf", "anyOf", "oneOf", "$ref"})
_OPEN_HINT = "Declare the properties, or use a list of objects with a key and a value each."


def close(node: Node, path: str, changes: SchemaChanges, *, is_root: bool) -> None:
    """Forbids additional properties; a root without properties gets none. Properties that the schema allows in words
    are a loss of structure.

    Raises `InvalidInputError` for an object with arbitrary keys, which could not have any property.
    """
    if not is_object(node):
        return
    others = node.get("additionalProperties", True)
    if others is False:
        return
    says_none = is_root and "additionalProperties" not in node
    if "patternProperties" in node or others not in (True, {}) or not (node.get("properties") or says_none):
        raise InvalidInputError("an object with arbitrary keys is not supported here", path=path, hint=_OPEN_HINT)
    changes.narrower(path, "is closed", is_structural="additionalProperties" in node)
    node["additionalProperties"] = False


def has_any_keys(node: Node) -> bool:
    """Returns whether a schema is that of an object, and says nothing of its keys."""
    return is_object(node) and _ABOUT_KEYS.isdisjoint(node)


def refuse_any_object(node: Node, path: str) -> None:
    """Raises `InvalidInputError` for an object with any keys and any values."""
    is_open = node.get("additionalProperties", True) in (True, {})
    if is_open and has_any_keys({name: value for name, value in node.items() if name != "additionalProperties"}):
        raise InvalidInputError("an object with any keys and values is not supported here", path=path, hint=_OPEN_HINT)


def require(node: Node, rules: Rules, path: str, changes: SchemaChanges) -> None:
    """Makes all properties required, or at least one."""
    if not is_object(node):
        return
    names = list(as_named(node.get("properties", {}), f"{path}.properties"))
    required = node.get("required", ())
    given: Sequence[Any] = required if is_list(required) else ()
    if rules.required == "some" and (given or not names):
        return
    missing = [name for name in names if name not in set(given)]
    if missing:
        node["required"] = [*given, *missing]
        changes.narrower(f"{path}.required", f"has {', '.join(missing)}, too")
    elif not names and "required" not in node:
        node["required"] = []
        changes.same(f"{path}.required", "is added")


def add_type(node: Node, rules: Rules, path: str, changes: SchemaChanges) -> None:
    """Adds the type that a schema implies; raises `InvalidInputError` for one that accepts any type."""
    if any(keyword in node for keyword in ("type", "$ref", "anyOf")):
        return
    values = [node["const"]] if "const" in node else node.get("enum")
    if is_list(values) and values:
        types = list(dict.fromkeys(type_of(value) for value in values))
        if len(types) == 1 or rules.type_lists:
            node["type"] = types[0] if len(types) == 1 else types
            changes.same(f"{path}.type", "is added")
    elif "properties" in node or "items" in node:
        node["type"] = "object" if "properties" in node else "array"
        changes.narrower(f"{path}.type", "is added")
    else:
        hint = "Add `type` or `anyOf`."
        raise InvalidInputError("a value of any type is not supported here", path=path, hint=hint)
