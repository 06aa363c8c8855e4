"""Keywords that a vendor does not know, left out."""

from __future__ import annotations

import re
from typing import Any

from .changes import Changes
from .places import Node, is_list
from .rules import Rules

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
"""What says nothing of the values that are accepted."""

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
"""What decides which values are accepted. A keyword that is in neither set means nothing to anyone."""

_SHOWN = 40


def leave_out_unknown(node: Node, rules: Rules, place: str, changes: Changes) -> None:
    """Take out of `node` what the vendor does not take. A constant is an enum of one."""
    if "const" in node and rules.keywords is not None and "const" not in rules.keywords and "enum" not in node:
        node["enum"] = [node.pop("const")]
        changes.same(f"{place}.const", "became enum")
    for keyword in [keyword for keyword, value in node.items() if not _is_taken(keyword, value, rules)]:
        value = node.pop(keyword)
        if keyword in ASSERTIONS and not _says_nothing(keyword, value):
            shown = f" ({value})" if isinstance(value, str | int | float) and len(str(value)) <= _SHOWN else ""
            changes.looser(f"{place}.{keyword}", f"is left out{shown}")
        else:
            changes.same(f"{place}.{keyword}", "is left out")


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
    """Whether a keyword is at the value that it has where it is not."""
    if keyword in ("minLength", "minItems", "minProperties"):
        return value == 0
    return keyword == "uniqueItems" and value is False
