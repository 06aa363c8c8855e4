"""Arrays for vendors that require a single schema for all items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from abstractcore.errors import InvalidInputError

from .changes import SchemaChanges
from .subschemas import Node, as_list, is_list, types_of


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
