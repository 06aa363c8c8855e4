"""Merges several schemas that all apply into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from .keywords import ANNOTATIONS
from .subschemas import Node, is_list

_TOGETHER = (
    frozenset({"items", "prefixItems", "additionalItems"}),
    frozenset({"if", "then", "else"}),
    frozenset({"contains", "minContains", "maxContains"}),
)
"""Keywords whose meaning depends on keywords next to them."""

_ABOUT_OTHERS = frozenset({"additionalProperties", "patternProperties"})
_ABOUT_THE_WHOLE = frozenset({"unevaluatedProperties", "unevaluatedItems"})


def merge(schemas: Sequence[Any]) -> Node | None:
    """Returns one schema equivalent to all of `schemas` together; None if there is no simple one."""
    if not all(schema is True or isinstance(schema, dict) for schema in schemas):
        return None
    parts = [cast("Mapping[str, Any]", schema) for schema in schemas if schema is not True]
    if not _are_apart(parts):
        return None
    whole: Node = {}
    for part in parts:
        for keyword, value in part.items():
            if keyword not in whole or (whole[keyword] == value and type(whole[keyword]) is type(value)):
                whole[keyword] = value
            elif keyword not in ANNOTATIONS:
                both = _both(keyword, whole[keyword], value)
                if both is None:
                    return None
                whole[keyword] = both
    return whole


def _are_apart(parts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the keywords of the parts do not affect each other when merged."""
    if len(parts) < 2:
        return True
    if any(_ABOUT_THE_WHOLE & part.keys() for part in parts):
        return False
    closed = [part for part in parts if any(part.get(name, True) not in (True, {}) for name in _ABOUT_OTHERS)]
    if closed and sum(bool({"properties", *_ABOUT_OTHERS} & part.keys()) for part in parts) > 1:
        return False
    return all(sum(bool(group & part.keys()) for part in parts) < 2 for group in _TOGETHER)


def _both(keyword: str, one: Any, other: Any) -> Any:
    if keyword == "required" and is_list(one) and is_list(other):
        return list(dict.fromkeys([*one, *other]))
    if keyword == "properties" and isinstance(one, dict) and isinstance(other, dict):
        known, more = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        shared = {
            name: known[name] if known[name] == more[name] else {"allOf": [known[name], more[name]]}
            for name in known.keys() & more.keys()
        }
        return {**known, **more, **shared}
    return None
