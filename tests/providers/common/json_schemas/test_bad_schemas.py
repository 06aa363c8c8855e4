"""Schemas that no vendor accepts are a typed error with the path, quickly."""

import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.outputs.type_sketch import type_sketch
from abstractcore.schema import CallWarning, OutputSchema, ToolSpec
from abstractcore_providers.common import json_schemas
from abstractcore_providers.common.json_schemas import OLLAMA, OPENAI, Rules, SchemaLimits, SchemaRules
from abstractcore_providers.common.json_schemas.changes import SchemaChanges
from abstractcore_providers.common.json_schemas.fitting import fit_output, fit_tool
from abstractcore_providers.common.json_schemas.rewriting import rewrite
from abstractcore_providers.common.json_schemas.subschemas import check_limits
from tests.providers.common.json_schemas import schemas
from tests.providers.damage import paths_in, with_value

VENDORS: dict[str, SchemaRules] = {
    name: rules for name, rules in vars(json_schemas).items() if isinstance(rules, SchemaRules)
}
STRICT: Any = OPENAI.strict_outputs


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "properties.a.$ref", "does not refer to a schema"),
        ({"properties": {"a": {"$ref": "#/properties/b"}}}, "properties.a.$ref", "does not refer to a schema"),
        ({"properties": {"a": {"$ref": "#/type"}}}, "properties.a.$ref", "does not refer to a schema"),
        ({"properties": {"a": {"$ref": "https://example.com/a.json"}}}, "properties.a.$ref", "in another document"),
        ({"properties": {"a": {"$ref": "other.json#/a"}}}, "properties.a.$ref", "in another document"),
        ({"properties": {"a": {"$ref": "#name"}}}, "properties.a.$ref", "is an anchor"),
        ({"properties": {"a": {"$ref": 1}}}, "properties.a.$ref", "expected the text of a reference"),
        ({"properties": {"a": {"$ref": {}}}}, "properties.a.$ref", "expected the text of a reference"),
        ({"properties": {"a": 1}}, "properties.a", "expected a schema"),
        ({"properties": {"a": None}}, "properties.a", "expected a schema"),
        ({"properties": ["a"]}, "properties", "expected schemas by name"),
        ({"properties": {"a": {"items": "text"}}}, "properties.a.items", "expected a schema"),
        ({"properties": {"a": {"anyOf": {}}}}, "properties.a.anyOf", "expected a list of schemas"),
        ({"$defs": 1}, "$defs", "expected schemas by name"),
    ],
)
def test_invalid_schema_is_refused_with_its_path(vendor: str, schema: Any, path: str, reason: str):
    with pytest.raises(InvalidInputError, match=reason) as caught:
        fit_tool(ToolSpec("f", parameters={"type": "object", **schema}), "tools[3]", VENDORS[vendor], [])
    assert caught.value.path == f"tools[3].parameters.{path}"


@pytest.mark.parametrize("reference", ["#/$defs/a", "#/$defs/b"])
def test_circular_references_are_refused_or_cut(reference: str):
    circle = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    schema = {"type": "object", "properties": {"x": {"$ref": reference}}, "$defs": circle}
    for rules in VENDORS.values():
        fit_tool(ToolSpec("f", parameters=schema), "tools[0]", rules, [])
    with pytest.raises(InvalidInputError, match="refers only to itself"):
        fit_output(OutputSchema("o", {"$ref": reference, "$defs": circle}), OPENAI, [])


@pytest.mark.parametrize("type", ["array", "string", ["object", "null"], "null"])
def test_non_object_root_is_refused_where_only_objects_are_accepted(type: Any):
    with pytest.raises(InvalidInputError, match="not an object schema") as caught:
        fit_tool(ToolSpec("f", parameters={"type": type}), "tools[0]", OPENAI, [])
    assert caught.value.path == "tools[0].parameters.type"
    with pytest.raises(InvalidInputError, match="Put it into a property") as caught:
        fit_output(OutputSchema("o", {"type": type}), OPENAI, [])
    assert caught.value.path == "output.schema.type"


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


def test_schema_of_ten_thousand_levels_is_refused():
    with pytest.raises(InvalidInputError, match="nested deeper than 100 levels") as caught:
        rewrite(nested(10_000), Rules(), SchemaChanges())
    assert caught.value.path == "$" + 101 * ".items"


def test_too_deep_references_are_refused():
    chain = {f"d{i}": {"items": {"$ref": f"#/$defs/d{i + 1}"}} for i in range(1000)} | {"d1000": {}}
    schema = {"items": {"$ref": "#/$defs/d0"}, "$defs": chain}
    assert rewrite(schema, Rules(), SchemaChanges()) == schema
    for rules in (Rules(inlined=True), Rules(references_anywhere=False)):
        with pytest.raises(InvalidInputError, match="nested deeper than 100 levels"):
            rewrite(schema, rules, SchemaChanges())


def test_references_that_grow_without_limit_when_inlined_are_refused():
    doubling = {f"d{i}": {"prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)} | {"d40": {}}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling}
    with pytest.raises(InvalidInputError, match="more than 20,000 parts"):
        fit_tool(ToolSpec("f", parameters=schema), "tools[0]", OLLAMA, [])


def test_hundred_thousand_properties_are_refused_and_ten_thousand_are_not_strict():
    def wide(count: int) -> dict[str, Any]:
        return {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(count)}}

    with pytest.raises(InvalidInputError, match="more than 20,000 parts") as caught:
        fit_output(OutputSchema("o", wide(100_000)), OPENAI, [])
    assert caught.value.path.startswith("output.schema.properties.p")
    warnings: list[CallWarning] = []
    sent, strict = fit_output(OutputSchema("o", wide(10_000)), OPENAI, warnings)
    assert (sent, strict) == (wide(10_000), False)
    assert [(warning.path, warning.code) for warning in warnings] == [("output.strict", "strict_left_out")]
    assert "more than 5,000 properties" in warnings[0].message


def test_work_is_linear_in_the_schema_size():
    def calls(count: int) -> int:
        properties = {f"p{i}": {"type": "object", "properties": {"a": {"type": "string"}}} for i in range(count)}
        schema, events = {"type": "object", "properties": properties}, itertools.count()
        sys.setprofile(lambda frame, event, arg: next(events))
        try:
            rewrite(schema, STRICT, SchemaChanges())
        finally:
            sys.setprofile(None)
        return next(events)

    calls(100)
    assert calls(2_400) < 9 * calls(300)


def test_enums_may_contain_any_value():
    schema = {"type": "object", "properties": {"a": {"enum": [{"b": [1]}, [], None, {"b": [1]}]}}}
    for rules in VENDORS.values():
        fit_tool(ToolSpec("f", parameters=schema, strict=True), "tools[0]", rules, [])


@pytest.mark.parametrize("schema", [True, False, {}])
def test_boolean_schemas_are_not_strict_at_openai(schema: Any):
    warnings: list[CallWarning] = []
    spec = ToolSpec("f", parameters={"type": "object", "properties": {"a": schema}}, strict=True)
    sent, strict = fit_tool(spec, "tools[0]", OPENAI, warnings)
    assert (sent, strict) == (spec.parameters, False)
    assert [(warning.code, warning.path, warning.sent) for warning in warnings] == [
        ("strict_left_out", "tools[0].strict", False)
    ]
    assert "tools[0].parameters.properties.a" in warnings[0].message


@pytest.mark.parametrize(
    ("limits", "schema", "path"),
    [
        (SchemaLimits(depth=1), nested(3), "$.items.items"),
        (SchemaLimits(properties=1), {"properties": {"a": {}, "b": {}}}, "$"),
        (SchemaLimits(enum_values=1), {"items": {"enum": [1, 2]}}, "$.items"),
        (SchemaLimits(name_characters=3), {"properties": {"abcd": {}}}, "$"),
        (SchemaLimits(name_characters=3), {"items": {"const": "abcd"}}, "$.items"),
        (SchemaLimits(name_characters=3), {"$defs": {"abcd": {}}}, "$"),
        (SchemaLimits(long_enum=(1, 3)), {"enum": ["ab", "cd"]}, "$.enum"),
        (SchemaLimits(characters=10), {"type": "string"}, "$"),
    ],
)
def test_exceeded_limit_is_named_with_its_path(limits: SchemaLimits, schema: Any, path: str):
    check_limits({"type": "array"}, SchemaLimits(1, 1, 1, 3, (1, 3), 20))
    with pytest.raises(InvalidInputError, match="not supported here") as caught:
        check_limits(schema, limits)
    assert caught.value.path == path


def test_depth_of_a_definition_counts_from_itself():
    check_limits({"type": "object", "$defs": {"a": {"type": "array", "items": {}}}}, SchemaLimits(depth=1))


KINDS_OF_SCHEMA = {
    **schemas.TOOLS,
    "combined": {
        "type": "object",
        "properties": {
            "a": {"allOf": [{"type": "string"}]},
            "b": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/c"}]},
        },
        "allOf": [{"required": ["a"]}],
        "$defs": {"c": {"oneOf": [{"const": 1}, {"enum": ["x", None]}]}},
    },
}
REPLACEMENTS: list[Any] = [None, True, 5, "x", [], [None], {}, {"x": []}, {"allOf": [None]}]


@pytest.mark.exhaustive
@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("name", KINDS_OF_SCHEMA)
def test_schema_with_one_replaced_value_is_sent_or_a_typed_error(vendor, name):
    rules, whole, refused = VENDORS[vendor], KINDS_OF_SCHEMA[name], 0
    for trail in paths_in(whole):
        for value in REPLACEMENTS if trail else ():
            damaged = with_value(whole, trail, value)
            try:
                fit_tool(ToolSpec("t", parameters=damaged, strict=True), "tools[0]", rules, [])
                fit_output(OutputSchema("o", damaged), rules, [])
            except InvalidInputError:
                refused += 1
    assert refused > 0


@pytest.mark.parametrize("branch", [None, 5, "x", []])
@pytest.mark.parametrize("vendor", VENDORS)
def test_single_branch_that_is_not_a_schema_is_a_typed_error(vendor, branch):
    with pytest.raises(InvalidInputError, match="expected a schema") as caught:
        fit_output(OutputSchema("o", {"type": "object", "allOf": [branch]}), VENDORS[vendor], [])
    assert caught.value.path == "output.schema.allOf[0]"


class CountedName(str):
    """A name of a property that counts how often it is compared or hashed."""

    uses = 0

    def __eq__(self, other: object) -> bool:
        CountedName.uses += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        CountedName.uses += 1
        return str.__hash__(self)


@pytest.mark.parametrize(
    "read", [lambda schema: rewrite(schema, STRICT, SchemaChanges()), type_sketch], ids=["rewrite", "type_sketch"]
)
def test_required_names_are_looked_up_in_linear_work(read: Callable[[Any], object]):
    def uses(count: int) -> int:
        properties = {f"p{i}": {"type": "string"} for i in range(count)}
        required = [CountedName(name) for name in properties]
        before = CountedName.uses
        read({"type": "object", "properties": properties, "required": required, "additionalProperties": False})
        return CountedName.uses - before

    assert uses(100) >= 100
    assert uses(800) < 9 * uses(100)
