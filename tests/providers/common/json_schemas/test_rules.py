"""Each rule with small schemas: the result, the path, and whether it accepts more or less."""

from dataclasses import replace
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore_providers.common.json_schemas import Rules
from abstractcore_providers.common.json_schemas.changes import SchemaChanges
from abstractcore_providers.common.json_schemas.rewriting import rewrite

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
CLOSED = {"type": "object", "properties": {"a": TEXT}, "required": ["a"], "additionalProperties": False}
DEFS = {"$defs": {"T": TEXT}}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}
REQUIRED_NODE = {**NODE, "required": ["next"]}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def check(
    rules: Rules, before: Any, after: Any, expected_changes: list[tuple[str, str]], is_tool: bool = False
) -> None:
    changes = SchemaChanges()
    assert rewrite(before, rules, changes, is_tool=is_tool) == after
    assert [(change.path, change.effect) for change in changes.recorded] == expected_changes
    again = SchemaChanges()
    assert rewrite(after, rules, again, is_tool=is_tool) == after
    assert again.recorded == [], "what was rewritten is rewritten again"


ARRAY = {"type": "array"}
LISTS = Rules(keywords=frozenset({"type", "items", "anyOf", "minItems", "maxItems", "properties"}))
PAIR = {**ARRAY, "minItems": 2, "maxItems": 2}
EITHER = {"anyOf": [TEXT, NUMBER]}


@pytest.mark.parametrize(
    ("rules", "before", "after", "expected_changes"),
    [
        (LISTS, {**PAIR, "prefixItems": [TEXT, TEXT]}, {**PAIR, "items": TEXT}, [("$.prefixItems", "same")]),
        (LISTS, {**PAIR, "prefixItems": [TEXT, NUMBER]}, {**PAIR, "items": EITHER}, [("$.prefixItems", "looser")]),
        (LISTS, {**PAIR, "items": [TEXT, NUMBER]}, {**PAIR, "items": EITHER}, [("$.items", "looser")]),
        (
            LISTS,
            {**ARRAY, "prefixItems": [TEXT], "items": False},
            {**ARRAY, "items": TEXT, "maxItems": 1},
            [("$.prefixItems", "same")],
        ),
        (
            LISTS,
            {**ARRAY, "prefixItems": [TEXT], "items": NUMBER},
            {**ARRAY, "items": EITHER},
            [("$.prefixItems", "looser")],
        ),
        (LISTS, {**ARRAY, "prefixItems": [], "items": False}, {**ARRAY, "maxItems": 0}, [("$.prefixItems", "same")]),
        (LISTS, {**ARRAY, "prefixItems": [TEXT]}, ARRAY, [("$.prefixItems", "looser")]),
        (
            Rules(keywords=frozenset({"type", "items", "prefixItems", "maxItems", "minItems"})),
            {**PAIR, "prefixItems": [TEXT, NUMBER]},
            {**PAIR, "prefixItems": [TEXT, NUMBER]},
            [],
        ),
    ],
)
def test_positional_items_become_any_of(rules: Rules, before: Any, after: Any, expected_changes: Any):
    check(rules, before, after, expected_changes)


@pytest.mark.parametrize("array", [ARRAY, {"type": ["array", "null"]}, {**ARRAY, "prefixItems": [TEXT]}])
def test_array_of_anything_is_refused_where_every_schema_needs_a_type(array: Any):
    with pytest.raises(InvalidInputError, match="an array without a schema for its items is not supported here"):
        rewrite(of(a=array), replace(LISTS, typed=True), SchemaChanges())


KEYWORDS = Rules(keywords=frozenset({"type", "items", "enum", "properties", "required"}))


@pytest.mark.parametrize(
    ("rules", "before", "after", "expected_changes"),
    [
        (Rules(), {"x-ours": 1, "not": TEXT}, {"x-ours": 1, "not": TEXT}, []),
        (KEYWORDS, {**NUMBER, "minimum": 1}, NUMBER, [("$.minimum", "looser")]),
        (KEYWORDS, {**NUMBER, "title": "n", "x-ours": 1}, NUMBER, [("$.title", "same"), ("$.x-ours", "same")]),
        (KEYWORDS, {**TEXT, "minLength": 0}, TEXT, [("$.minLength", "same")]),
        (KEYWORDS, {"const": 1}, {"enum": [1]}, [("$.const", "same")]),
        (KEYWORDS, {"type": "array", "items": [TEXT]}, {"type": "array"}, [("$.items", "looser")]),
        (KEYWORDS, of(minimum=NUMBER), of(minimum=NUMBER), []),
        (KEYWORDS, of(a={"enum": [{"minimum": 1}]}), of(a={"enum": [{"minimum": 1}]}), []),
        (Rules(formats=frozenset({"date"})), {**TEXT, "format": "uri"}, TEXT, [("$.format", "looser")]),
        (Rules(formats=frozenset({"date"})), {**TEXT, "format": "date"}, {**TEXT, "format": "date"}, []),
        (
            Rules(keywords=frozenset({"pattern"}), pattern_without=(r"\(\?=",)),
            {"pattern": "a(?=b)"},
            {},
            [("$.pattern", "looser")],
        ),
        (Rules(keywords=frozenset({"enum"}), plain_enums=True), {"enum": [1, []]}, {}, [("$.enum", "looser")]),
        (Rules(keywords=frozenset({"minItems"}), few_items=True), {"minItems": 2}, {}, [("$.minItems", "looser")]),
        (Rules(keywords=frozenset({"minItems"}), few_items=True), {"minItems": 1}, {"minItems": 1}, []),
    ],
)
def test_unsupported_keywords_are_removed(rules: Rules, before: Any, after: Any, expected_changes: Any):
    check(rules, before, after, expected_changes)


ANY_OF = Rules(any_of_only=True)


@pytest.mark.parametrize(
    ("before", "after", "expected_changes"),
    [
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}, [("$.oneOf", "same")]),
        ({"oneOf": [NUMBER, {"type": "integer"}]}, {"anyOf": [NUMBER, {"type": "integer"}]}, [("$.oneOf", "looser")]),
        ({"oneOf": [TEXT, {}]}, {"anyOf": [TEXT, {}]}, [("$.oneOf", "looser")]),
        ({"oneOf": [TEXT], "anyOf": [NUMBER]}, {"anyOf": [NUMBER]}, [("$.oneOf", "looser")]),
        (
            {"oneOf": [{**CLOSED, "properties": {"a": {"const": name}}} for name in "xy"]},
            {"anyOf": [{**CLOSED, "properties": {"a": {"const": name}}} for name in "xy"]},
            [("$.oneOf", "same")],
        ),
        (
            {"oneOf": [of(a={"const": name}) for name in "xy"]},
            {"anyOf": [of(a={"const": name}) for name in "xy"]},
            [("$.oneOf", "looser")],
        ),
        (
            {"oneOf": [of(a={"const": name}) for name in "xy"], "discriminator": {"propertyName": "a"}},
            {"anyOf": [of(a={"const": name}) for name in "xy"], "discriminator": {"propertyName": "a"}},
            [("$.oneOf", "same")],
        ),
        ({"allOf": [TEXT], "title": "t"}, {**TEXT, "title": "t"}, [("$.allOf", "same")]),
        (
            {"allOf": [of(a=TEXT), {**of(b=NUMBER), "required": ["b"]}], "required": ["a"]},
            {**of(a=TEXT, b=NUMBER), "required": ["a", "b"]},
            [("$.allOf", "same")],
        ),
        (
            {"allOf": [of(a=TEXT), of(a={"minLength": 1})]},
            of(a={"type": "string", "minLength": 1}),
            [("$.allOf", "same"), ("$.properties.a.allOf", "same")],
        ),
        ({"allOf": [CLOSED, of(b=TEXT)]}, {}, [("$.allOf", "looser")]),
        ({"allOf": [TEXT, NUMBER]}, {}, [("$.allOf", "looser")]),
        (
            {**DEFS, "items": {"allOf": [{"$ref": "#/$defs/T"}], "title": "t"}},
            {"items": {"title": "t", "$ref": "#/$defs/T"}, **DEFS},
            [("$.items.allOf", "same")],
        ),
        ({"allOf": [{"allOf": [TEXT]}]}, TEXT, [("$.allOf", "same"), ("$.allOf", "same")]),
        (
            {**DEFS, "items": {"allOf": [{"$ref": "#/$defs/T"}, {"minLength": 1}]}},
            {"items": {"type": "string", "minLength": 1}, **DEFS},
            [("$.items.allOf", "same")],
        ),
    ],
)
def test_unions_and_intersections_are_rewritten(before: Any, after: Any, expected_changes: Any):
    check(ANY_OF, before, after, expected_changes)


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (
            {"type": ["string", "null"], "title": "t", "minLength": 1},
            {"title": "t", "anyOf": [{"type": "string", "minLength": 1}, {"type": "null", "minLength": 1}]},
            "same",
        ),
        ({"type": ["string"]}, TEXT, "same"),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"enum": ["a", None]}, "same"),
        ({"type": ["string", "null"], "enum": ["a", 1]}, {"enum": ["a", 1]}, "looser"),
        ({"type": ["string", "null"], "anyOf": [{}]}, {"anyOf": [{}]}, "looser"),
    ],
)
def test_list_of_types_is_a_union(before: Any, after: Any, effect: str):
    check(Rules(type_lists=False), before, after, [("$.type", effect)])


STRICT = Rules(closed=True, required="all")


@pytest.mark.parametrize(
    ("rules", "before", "after", "expected_changes"),
    [
        (STRICT, CLOSED, CLOSED, []),
        (STRICT, of(a=TEXT), CLOSED, [("$", "narrower"), ("$.required", "narrower")]),
        (STRICT, {"type": "object"}, {"type": "object", "additionalProperties": False, "required": []}, None),
        (
            Rules(closed=True),
            {**of(a=TEXT), "additionalProperties": True},
            {**of(a=TEXT), "additionalProperties": False},
            None,
        ),
        (Rules(required="some"), of(a=TEXT, b=TEXT), {**of(a=TEXT, b=TEXT), "required": ["a", "b"]}, None),
        (
            Rules(required="some"),
            {**of(a=TEXT, b=TEXT), "required": ["b"]},
            {**of(a=TEXT, b=TEXT), "required": ["b"]},
            [],
        ),
        (Rules(explicit_items=True), {"type": "array"}, {"type": "array", "items": {}}, [("$.items", "same")]),
        (
            Rules(typed=True),
            {"enum": ["a", None]},
            {"enum": ["a", None], "type": ["string", "null"]},
            [("$.type", "same")],
        ),
        (Rules(typed=True), {"const": 1}, {"const": 1, "type": "integer"}, [("$.type", "same")]),
        (Rules(typed=True), {"properties": {}}, {"properties": {}, "type": "object"}, [("$.type", "narrower")]),
    ],
)
def test_objects_are_closed_and_their_properties_required(rules: Rules, before: Any, after: Any, expected_changes: Any):
    if expected_changes is None:
        changes = SchemaChanges()
        assert rewrite(before, rules, changes) == after
        assert changes.effect == "narrower"
    else:
        check(rules, before, after, expected_changes)


ROOT = Rules(root_object=True)


@pytest.mark.parametrize(
    ("before", "after", "expected_changes"),
    [
        ({"properties": {}}, {"type": "object", "properties": {}}, [("$.type", "same")]),
        ({"$ref": "#/$defs/O", "$defs": {"O": CLOSED}}, {**CLOSED, "$defs": {"O": CLOSED}}, [("$.$ref", "same")]),
        ({**CLOSED, "not": {"required": ["b"]}}, CLOSED, [("$.not", "looser")]),
        ({"allOf": [CLOSED]}, CLOSED, [("$.allOf", "same")]),
        (
            {
                "type": "object",
                "oneOf": [{**of(a=TEXT, c=TEXT), "required": ["a", "c"]}, {**of(b=TEXT, c=NUMBER), "required": ["c"]}],
            },
            {**of(a=TEXT, c={"anyOf": [TEXT, NUMBER]}, b=TEXT), "required": ["c"]},
            [("$.oneOf", "looser"), ("$.oneOf", "narrower")],
        ),
        (
            {**of(a=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {**of(a=TEXT), "required": []},
            [("$.anyOf", "looser"), ("$.anyOf", "narrower")],
        ),
    ],
)
def test_root_is_an_inlined_object(before: Any, after: Any, expected_changes: Any):
    check(ROOT, before, after, expected_changes, is_tool=True)


LONE = Rules(lone_references=True, references_anywhere=False)


@pytest.mark.parametrize(
    ("rules", "before", "after", "expected_changes"),
    [
        (Rules(), {"items": {"$ref": "#/$defs/T"}, **DEFS}, {"items": {"$ref": "#/$defs/T"}, **DEFS}, []),
        (
            LONE,
            {"items": {"$ref": "#/$defs/T", "description": "d"}, **DEFS},
            {"items": {"anyOf": [{"$ref": "#/$defs/T"}], "description": "d"}, **DEFS},
            [("$.items.$ref", "same")],
        ),
        (
            LONE,
            {"items": {"$ref": "#/$defs/T", "minLength": 1}, **DEFS},
            {"items": {"minLength": 1, "type": "string"}, **DEFS},
            [("$.items.$ref", "same")],
        ),
        (
            Rules(inlined=True),
            {"items": {"$ref": "#/$defs/T", "title": "t"}, **DEFS},
            {"items": {"title": "t", **TEXT}},
            [("$.items.$ref", "same"), ("$.$defs", "same")],
        ),
        (
            Rules(references_anywhere=False),
            {"items": {"$ref": "#/definitions/T"}, "definitions": {"T": TEXT}},
            {"items": {"$ref": "#/$defs/T"}, "definitions": {"T": TEXT}, **DEFS},
            [("$.items.$ref", "same")],
        ),
        (
            Rules(references_anywhere=False),
            {**of(a=TEXT, b={"$ref": "#/properties/a"}), "$defs": {"a": NUMBER}},
            {**of(a=TEXT, b={"$ref": "#/$defs/a_2"}), "$defs": {"a": NUMBER, "a_2": TEXT}},
            [("$.properties.b.$ref", "same")],
        ),
        (Rules(recursion="cut"), of(a={"$ref": "#"}), of(a={}), [("$.properties.a.$ref", "looser")]),
        (
            Rules(inlined=True),
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": NODE}},
            {"items": of(next={})},
            [("$.items.$ref", "same"), ("$.items.properties.next.$ref", "looser"), ("$.$defs", "same")],
        ),
        (
            Rules(recursion="cut", references_anywhere=False),
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": NODE}},
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": of(next={})}},
            [("$.$defs.N.properties.next.$ref", "looser")],
        ),
        (
            Rules(recursion="optional", references_anywhere=False),
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": NODE}},
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": NODE}},
            [],
        ),
        (
            Rules(recursion="optional", references_anywhere=False),
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": REQUIRED_NODE}},
            {"items": {"$ref": "#/$defs/N"}, "$defs": {"N": {**of(next={}), "required": ["next"]}}},
            [("$.$defs.N.properties.next.$ref", "looser")],
        ),
    ],
)
def test_references_move_to_where_the_vendor_resolves_them(
    rules: Rules, before: Any, after: Any, expected_changes: Any
):
    check(rules, before, after, expected_changes)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("a/b", "#/$defs/a~1b"),
        ("a~b", "#/$defs/a~0b"),
        ("a%b", "#/$defs/a%25b"),
        ("a b", "#/$defs/a%20b"),
        ("~1", "#/$defs/~01"),
    ],
)
def test_escapes_in_json_pointers_are_resolved(name: str, reference: str):
    schema = {"items": {"$ref": reference}, "$defs": {name: TEXT}}
    assert rewrite(schema, Rules(inlined=True), SchemaChanges()) == {"items": TEXT}


def test_json_pointer_may_traverse_an_array():
    schema = {"anyOf": [TEXT, NUMBER], "items": {"$ref": "#/anyOf/1"}}
    assert rewrite(schema, Rules(inlined=True), SchemaChanges())["items"] == NUMBER


def test_loosening_changes_are_listed_first_and_the_list_is_shortened():
    changes = SchemaChanges()
    for index in range(20):
        changes.narrower(f"$.{index}", "is closed")
        changes.looser(f"$.{index}", "is left out")
    assert str(changes).startswith("$.0 is left out; $.1 is left out; ")
    assert str(changes).endswith("; and 12 more")
    assert changes.effect == "looser"
