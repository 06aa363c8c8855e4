"""Removes keywords that a vendor does not support."""

from __future__ import annotations

import re
from typing import Any

from .changes import SchemaChanges
from .rules import Rules
from .subschemas import Node, is_list

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
