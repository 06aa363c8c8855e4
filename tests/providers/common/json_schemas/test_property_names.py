"""Refused names of properties are replaced everywhere in a schema, and it accepts the same values by their other names.

Values are judged by an independent validator.
"""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from abstractcore.schema import ToolSpec, freeze_object
from abstractcore_providers.common.json_schemas import ANTHROPIC, BEDROCK
from abstractcore_providers.common.json_schemas.fitting import fit_tool
from abstractcore_providers.common.json_schemas.property_names import sent_properties
from abstractcore_providers.common.name_rules import ANTHROPIC_PROPERTIES
from tests.properties import examples

BAD, LONG, TEXT = "$top", "k" * 65, {"type": "string"}
OBJECT = {"type": "object", "properties": {BAD: TEXT}, "required": [BAD]}
GOOD_VALUE, BAD_VALUE = {BAD: "x"}, {BAD: 1}
PLACES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "root": (OBJECT, GOOD_VALUE, {}),
    "long": ({"properties": {LONG: TEXT}, "required": [LONG]}, {LONG: "x"}, {LONG: 1}),
    "two that look alike": (
        {"properties": {"a!": TEXT, "a?": {"type": "null"}}},
        {"a!": "x", "a?": None},
        {"a!": None},
    ),
    "nested object": ({"properties": {"ok": OBJECT}}, {"ok": GOOD_VALUE}, {"ok": BAD_VALUE}),
    "array": ({"properties": {"ok": {"type": "array", "items": OBJECT}}}, {"ok": [GOOD_VALUE]}, {"ok": [BAD_VALUE]}),
    "prefixItems": ({"properties": {"ok": {"prefixItems": [OBJECT]}}}, {"ok": [GOOD_VALUE]}, {"ok": [BAD_VALUE]}),
    "contains": ({"properties": {"ok": {"contains": OBJECT}}}, {"ok": [1, GOOD_VALUE]}, {"ok": [BAD_VALUE]}),
    "anyOf": ({"properties": {"ok": {"anyOf": [OBJECT, TEXT]}}}, {"ok": GOOD_VALUE}, {"ok": BAD_VALUE}),
    "oneOf": ({"properties": {"ok": {"oneOf": [OBJECT, TEXT]}}}, {"ok": GOOD_VALUE}, {"ok": BAD_VALUE}),
    "allOf": ({"properties": {"ok": {"allOf": [OBJECT, {"minProperties": 1}]}}}, {"ok": GOOD_VALUE}, {"ok": {}}),
    "not": ({"properties": {"ok": {"not": OBJECT}}}, {"ok": BAD_VALUE}, {"ok": GOOD_VALUE}),
    "if": (
        {"properties": {"ok": {"if": OBJECT, "then": {"properties": {"b]": TEXT}}, "else": {"type": "null"}}}},
        {"ok": {BAD: "x", "b]": "y"}},
        {"ok": {BAD: "x", "b]": 1}},
    ),
    "additionalProperties": (
        {"properties": {"ok": {"type": "object", "additionalProperties": OBJECT}}},
        {"ok": {"any": GOOD_VALUE}},
        {"ok": {"any": BAD_VALUE}},
    ),
    "patternProperties": (
        {"properties": {"ok": {"patternProperties": {"^p": OBJECT}}}},
        {"ok": {"p": GOOD_VALUE}},
        {"ok": {"p": BAD_VALUE}},
    ),
    "$defs": (
        {"properties": {"ok": {"$ref": "#/$defs/T"}}, "$defs": {"T": OBJECT}},
        {"ok": GOOD_VALUE},
        {"ok": BAD_VALUE},
    ),
    "recursion": (
        {"properties": {"a b": {"$ref": "#"}, "ok": TEXT}},
        {"a b": {"a b": {"ok": "x"}}},
        {"a b": {"a b": {"ok": 1}}},
    ),
    "$ref through a property": (
        {"properties": {"x[y]/z": TEXT, "ok": {"$ref": "#/properties/x%5By%5D~1z"}}},
        {"ok": "x"},
        {"ok": 1},
    ),
    "dependentRequired": (
        {"properties": {BAD: TEXT, "b]": TEXT}, "dependentRequired": {BAD: ["b]"]}},
        {"b]": "x"},
        GOOD_VALUE,
    ),
    "dependentSchemas": (
        {"properties": {BAD: TEXT}, "dependentSchemas": {BAD: {"properties": {"ok": TEXT}}}},
        {BAD: "x", "ok": "y"},
        {BAD: "x", "ok": 1},
    ),
    "propertyNames": (
        {"properties": {BAD: TEXT}, "propertyNames": {"enum": [BAD, "ok"]}},
        {BAD: "x", "ok": 1},
        {"other": 1},
    ),
    "const and enum": (
        {"properties": {BAD: {"const": {BAD: BAD}}, "ok": {"enum": [{BAD: [BAD]}]}}},
        {BAD: {BAD: BAD}, "ok": {BAD: [BAD]}},
        {BAD: {BAD: "other"}},
    ),
    "a property named as a keyword": (
        {"properties": {"properties": OBJECT, "required": TEXT, "enum": OBJECT}},
        {"properties": GOOD_VALUE, "required": BAD, "enum": GOOD_VALUE},
        {"properties": BAD_VALUE},
    ),
    "closed": ({**OBJECT, "additionalProperties": False}, GOOD_VALUE, {BAD: "x", "more": 1}),
}
LEGAL = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def fitted(schema: dict[str, Any], *, strict: bool | None = None) -> Any:
    return fit_tool(ToolSpec("t", parameters={"type": "object", **schema}, strict=strict), "tools[0]", ANTHROPIC, [])[0]


def renamed(value: Any, names: Any) -> Any:
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(name, name): renamed(item, names) for name, item in value.items()}
    return value


def property_names(schema: Any) -> list[str]:
    """The names of all properties in a schema, found in its text."""
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> Any:
        for keyword, value in pairs:
            if keyword == "properties" and isinstance(value, list):
                found.extend(name for name, _ in value)
        return pairs

    json.loads(json.dumps(schema), object_pairs_hook=note)
    return found


def test_every_place_of_a_property_has_the_other_name_and_accepts_the_same():
    walked = 0
    for place, (schema, good, bad) in PLACES.items():
        whole = {"type": "object", **schema}
        sent = fitted(schema)
        names = sent_properties(freeze_object(whole), ANTHROPIC_PROPERTIES)
        assert Draft202012Validator(whole).is_valid(good), place
        assert not Draft202012Validator(whole).is_valid(bad), place
        assert Draft202012Validator(sent).is_valid(renamed(good, names)), place
        assert not Draft202012Validator(sent).is_valid(renamed(bad, names)), place
        assert all(map(LEGAL.fullmatch, property_names(sent))), place
        walked += 1
    assert walked == 23


@pytest.mark.parametrize("place", ["root", "nested object", "array", "anyOf", "$defs"])
def test_strict_schemas_have_the_other_names_too(place: str):
    schema, good, bad = PLACES[place]
    sent = fitted(schema, strict=True)
    names = sent_properties(freeze_object({"type": "object", **schema}), ANTHROPIC_PROPERTIES)
    assert Draft202012Validator(sent).is_valid(renamed(good, names))
    assert not Draft202012Validator(sent).is_valid(renamed(bad, names))
    assert all(map(LEGAL.fullmatch, property_names(sent)))
    assert sent["additionalProperties"] is False


def test_properties_of_a_union_at_the_root_become_those_of_one_object():
    """Anthropic accepts no union there: the properties of its branches are at the top of what is sent."""
    sent = fitted({"anyOf": [OBJECT, {"type": "object", "properties": {"b]": TEXT}}]})
    names = sent_properties(freeze_object({"properties": {BAD: {}, "b]": {}}}), ANTHROPIC_PROPERTIES)
    assert list(sent["properties"]) == [names[BAD], names["b]"]]


def test_the_model_is_told_the_own_name():
    sent = fitted({"properties": {BAD: {"type": "integer", "description": "How many."}, "名前": TEXT, "ok": TEXT}})
    assert [schema.get("description") for schema in sent["properties"].values()] == ["$top: How many.", "名前", None]


def test_change_names_the_path_and_the_name_that_is_sent():
    warnings: list[Any] = []
    tool = ToolSpec("t", parameters={"type": "object", "properties": {"ok": {"type": "array", "items": OBJECT}}})
    fit_tool(tool, "tools[3]", ANTHROPIC, warnings)
    (warning,) = warnings
    (sent,) = sent_properties(freeze_object(OBJECT), ANTHROPIC_PROPERTIES).values()
    assert (warning.code, warning.path) == ("schema_normalized", "tools[3].parameters")
    assert warning.message == f"$.properties.ok.items.properties.$top is named {sent}"


NAMES = st.sampled_from(["a", BAD, "b]", LONG, "ok.1-_", "", "ä"])
VALUES = st.recursive(
    st.sampled_from(["x", BAD, 1, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.sampled_from([{}, TEXT, {"type": "integer"}, {"const": GOOD_VALUE}, {"enum": [BAD, GOOD_VALUE]}]),
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": required},
            st.dictionaries(NAMES, inner, max_size=3),
            st.lists(NAMES, max_size=2, unique=True),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda schema: {"not": schema}, inner),
    ),
    max_leaves=5,
)


@pytest.mark.exhaustive
@examples(400)
@given(st.dictionaries(NAMES, SCHEMAS, max_size=3), st.dictionaries(NAMES, VALUES, max_size=3))
def test_schema_with_other_names_accepts_the_same_values_by_those(properties: Any, value: Any):
    schema = {"type": "object", "properties": properties}
    sent = fitted(schema)
    names = sent_properties(freeze_object(schema), ANTHROPIC_PROPERTIES)
    everywhere = {name: names.get(name, name) for name in property_names(schema)}
    assert Draft202012Validator(sent).is_valid(renamed(value, everywhere)) == Draft202012Validator(schema).is_valid(
        value
    )
    assert all(map(LEGAL.fullmatch, property_names(sent)))


def test_bedrock_has_the_rule_of_anthropic():
    """The same error for models of Anthropic."""
    assert BEDROCK.tools.property_names == BEDROCK.outputs.property_names == ANTHROPIC_PROPERTIES
