"""Keywords that a vendor does not support are removed; arrays have a schema for all items, objects are closed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .rules import Rules
from .subschemas import Node, as_list, as_named, is_list, is_object, type_of, types_of

ANNOTATIONS = frozenset(
    {
        "$schema",
        "$id",
        "$comment",
        "$anchor",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    }
)
"""Keywords that do not affect which values are accepted."""

ASSERTIONS = frozenset(
    {
        *("type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "pattern", "format"),
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains"),
        *("minItems", "maxItems", "uniqueItems"),
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
        *("required", "minProperties", "maxProperties"),
        *("dependentRequired", "dependentSchemas", "dependencies"),
    }
)
"""Keywords that affect which values are accepted. One in neither set has no meaning."""

STRUCTURAL = frozenset(
    {"prefixItems", "items", "properties", "patternProperties", "additionalProperties", "allOf", "$ref"}
)
"""Assertions without which a schema no longer describes the keys or the items of all values."""

_SHOWN = 40


def leave_out_unknown(node: Node, rules: Rules, path: str, changes: SchemaChanges) -> None:
    """Removes unsupported keywords from `node`. `const` becomes an enum of one value."""
    if "const" in node and rules.keywords is not None and "const" not in rules.keywords and "enum" not in node:
        node["enum"] = [node.pop("const")]
        changes.same(f"{path}.const", "became enum")
    for keyword in [keyword for keyword, value in node.items() if not _is_taken(keyword, value, rules)]:
        value = node.pop(keyword)
        if keyword in ASSERTIONS and not _says_nothing(keyword, value):
            shown = f" ({value})" if isinstance(value, str | int | float) and len(str(value)) <= _SHOWN else ""
            changes.looser(f"{path}.{keyword}", f"is left out{shown}", is_structural=keyword in STRUCTURAL)
        else:
            changes.same(f"{path}.{keyword}", "is left out")


def _is_taken(keyword: str, value: Any, rules: Rules) -> bool:
    if rules.keywords is not None and keyword not in rules.keywords:
        return False
    if keyword == "format":
        return rules.formats is None or value in rules.formats
    if keyword == "pattern":
        return not any(re.search(part, str(value)) for part in rules.pattern_without)
    if keyword == "minItems":
        return not rules.few_items or value in (0, 1)
    if keyword == "enum" and rules.plain_enums and is_list(value):
        return not any(isinstance(item, dict | list) for item in value)
    if keyword == "items" and is_list(value):
        return rules.keywords is None
    return True


def _says_nothing(keyword: str, value: Any) -> bool:
    """Whether a keyword has the value that is its default."""
    if keyword in ("minLength", "minItems", "minProperties"):
        return value == 0
    return keyword == "uniqueItems" and value is False


def is_tuple(node: Mapping[str, Any]) -> bool:
    """Whether a schema has positional items: `prefixItems` or, in older schemas, a list in `items`."""
    return "prefixItems" in node or is_list(node.get("items"))


def tuple_as_list(node: Node, path: str, changes: SchemaChanges) -> None:
    """Replaces positional items by `items` with `anyOf`."""
    keyword, rest = ("prefixItems", "items") if "prefixItems" in node else ("items", "additionalItems")
    by_position = as_list(node.pop(keyword), f"{path}.{keyword}")
    longest = node.get("maxItems")
    others = node.pop(rest, True)
    ends = others is False or (isinstance(longest, int) and longest <= len(by_position))
    items = [*by_position] if ends else [*by_position, others]
    distinct = list({json.dumps(item, sort_keys=True): item for item in items}.values())
    if others is False and longest is None:
        node["maxItems"] = len(by_position)
    if distinct and True not in distinct and {} not in distinct:
        node["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if len(distinct) < 2:
        changes.same(f"{path}.{keyword}", "became items")
    else:
        changes.looser(f"{path}.{keyword}", "became items in any order", is_structural=True)


def demand_items(node: Node, path: str) -> None:
    """Raises `InvalidInputError` for an array without a schema for its items."""
    if "items" not in node and "array" in types_of(node):
        hint = "Add `items`."
        raise InvalidInputError("an array without a schema for its items is not supported here", path=path, hint=hint)


def add_items(node: Node, path: str, changes: SchemaChanges) -> None:
    """Adds a schema that accepts anything to an array without a schema for its items."""
    if "items" not in node and isinstance(node.get("type"), str) and node["type"] == "array":
        node["items"] = {}
        changes.same(f"{path}.items", "is added")


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
    needed = set(given)
    missing = [name for name in names if name not in needed]
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
