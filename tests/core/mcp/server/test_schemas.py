"""Schemas of clients cannot make validation slow."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import InvalidInputError
from abstractcore.mcp.server.model_tools import safe_schema

LINKED = {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}
TREE = {
    "type": "object",
    "properties": {
        "left": {"$ref": "#"},
        "right": {"$ref": "#"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


def doubling(keyword: str, levels: int = 40) -> dict[str, Any]:
    """A schema that is applied two to the power of `levels` times to one value."""
    definitions = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {"type": "string"}}}


def nested(keyword: str, levels: int = 40) -> dict[str, Any]:
    """A schema whose keyword evaluates the schemas beside it again, at every level."""
    found: dict[str, Any] = {"properties": {"a": {}}}
    for _ in range(levels):
        found = {"allOf": [found], keyword: False}
    return found


@pytest.mark.parametrize(
    "schema",
    [
        *map(doubling, ("allOf", "anyOf", "oneOf")),
        nested("unevaluatedProperties"),
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"additionalProperties": {"$ref": "#"}}]},
        {"if": {"items": {"$ref": "#"}}, "then": {"prefixItems": [{"$ref": "#"}]}, "items": {"$ref": "#"}},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
    ],
)
def test_schema_that_multiplies_is_refused(schema: dict[str, Any]):
    with pytest.raises(InvalidInputError, match="could take exponential time") as caught:
        safe_schema(schema)
    assert caught.value.path == "schema"
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        LINKED,
        TREE,
        {
            "type": "object",
            "properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(500)},
        },
        {"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}}},
        {"const": {"$ref": "#/nowhere"}, "enum": [{"$ref": "#"}]},
        {"$defs": {"a/b~c": {"type": "string"}}, "$ref": "#/$defs/a~1b~0c"},
        {"prefixItems": [{"type": "string"}], "items": {"$ref": "#/prefixItems/0"}},
        {"type": ["string", "null"], "items": True},
    ],
)
def test_ordinary_schema_stays_as_it_is(schema: dict[str, Any]):
    assert safe_schema(schema) == schema


@pytest.mark.parametrize(
    "reference", ["#/$defs/none", "#anchor", "other.json", "https://example.com/x", "#/items/7", ""]
)
def test_reference_to_elsewhere_is_refused(reference: str):
    with pytest.raises(InvalidInputError, match="is not to a place in the schema"):
        safe_schema({"$ref": reference, "items": [{}]})


def test_long_schema_is_refused():
    with pytest.raises(InvalidInputError, match=r"it has \d\d,\d{3} characters as JSON; the limit is 65,536"):
        safe_schema({"properties": {f"p{n}": {"type": "string"} for n in range(3000)}})


def test_dynamic_references_are_refused():
    with pytest.raises(InvalidInputError, match="dynamic references are not accepted"):
        safe_schema({"properties": {"a": {"$dynamicRef": "#x"}}})


def test_regular_expressions_become_descriptions():
    given = {
        "properties": {"zip": {"type": "string", "pattern": "^[0-9]+$", "description": "A code"}, "pattern": {}},
        "patternProperties": {"^(a+)+$": {"type": "string"}},
        "default": {"pattern": "kept"},
        "anyOf": [{"pattern": "x"}],
    }
    assert safe_schema(given) == {
        "properties": {
            "zip": {"type": "string", "description": "A code; matches the regular expression ^[0-9]+$"},
            "pattern": {},
        },
        "default": {"pattern": "kept"},
        "anyOf": [{"description": "matches the regular expression x"}],
        "description": "has properties whose names match ^(a+)+$",
    }
