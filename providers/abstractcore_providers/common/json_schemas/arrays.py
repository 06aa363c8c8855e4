"""Arrays as vendors take them that know one schema for all items of an array, and want one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from abstractcore.errors import InvalidInputError

from .changes import Changes
from .places import Node, as_list, is_list, types_of


def is_tuple(node: Mapping[str, Any]) -> bool:
    """Whether a schema has items by position, as `prefixItems` or, in older schemas, as a list in `items`."""
    return "prefixItems" in node or is_list(node.get("items"))


def tuple_as_list(node: Node, place: str, changes: Changes) -> None:
    """Say of an array with items by position that each item is one of them: `anyOf` in `items`."""
    keyword, rest = ("prefixItems", "items") if "prefixItems" in node else ("items", "additionalItems")
    by_position = as_list(node.pop(keyword), f"{place}.{keyword}")
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
        changes.same(f"{place}.{keyword}", "became items")
    else:
        changes.looser(f"{place}.{keyword}", "became items in any order")


def demand_items(node: Node, place: str) -> None:
    """Raise `InvalidInputError` for an array that does not say what it holds."""
    if "items" not in node and "array" in types_of(node):
        hint = "Say what it holds, by `items`."
        raise InvalidInputError("an array of anything is not taken here", path=place, hint=hint)


def say_items(node: Node, place: str, changes: Changes) -> None:
    """Say of an array that says nothing of what it holds that it holds anything."""
    if "items" not in node and isinstance(node.get("type"), str) and node["type"] == "array":
        node["items"] = {}
        changes.same(f"{place}.items", "is said")
