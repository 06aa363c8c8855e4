"""The reported effect of a rewriting holds for the accepted values, by an independent validator."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from abstractcore.errors import InvalidInputError
from abstractcore_providers.common import json_schemas
from abstractcore_providers.common.json_schemas import Rules, SchemaRules
from abstractcore_providers.common.json_schemas.changes import SchemaChanges
from abstractcore_providers.common.json_schemas.rewriting import rewrite
from tests.properties import examples

pytestmark = pytest.mark.exhaustive

NAMES = st.sampled_from(["a", "b", "kind"])
TEXTS = st.sampled_from(["x", "y", "long text"])
SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.just(0.5) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
TUPLE_ENDS = st.sampled_from([{}, {"items": False}, {"items": {"type": "null"}}, {"minItems": 2, "maxItems": 2}])
LEAVES = st.one_of(
    st.builds(lambda name: {"type": name}, TYPES),
    st.builds(lambda names: {"type": names}, st.lists(TYPES, min_size=1, max_size=2, unique=True)),
    st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, SCALARS),
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-2, 3)),
    st.builds(lambda low: {"type": "string", "minLength": low, "title": "t"}, st.integers(0, 2)),
    st.just({"$ref": "#/$defs/text"}),
    st.just({"$ref": "#/$defs/tree", "description": "d"}),
    st.just({"$ref": "#/$defs/wide/properties/a", "minLength": 2}),
    st.just({}),
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda name, branches: {name: branches}, st.sampled_from(["anyOf", "oneOf", "allOf"]), several),
        st.builds(lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 2)),
        st.builds(lambda one, other: {**one, "anyOf": [other]}, inner, inner),
        st.builds(lambda items, others: {"type": "array", "prefixItems": items, **others}, several, TUPLE_ENDS),
        objects(inner),
        st.builds(lambda inner: {"not": inner}, inner),
    )


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda properties, required, others: {
            "type": "object",
            "properties": properties,
            "required": [name for name in required if name in properties],
            **others,
        },
        st.dictionaries(NAMES, inner, max_size=3),
        st.lists(NAMES, unique=True),
        st.sampled_from([{}, {}, {"additionalProperties": False}, {"additionalProperties": True}]),
    )


INNER = st.recursive(LEAVES, containers, max_leaves=6)
DEFS = {
    "text": {"type": "string"},
    "wide": {"type": "object", "properties": {"a": {"type": "string"}}},
    "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
}
SCHEMAS = objects(INNER).map(
    lambda schema: {**schema, "$defs": {name: DEFS[name] for name in DEFS if f"#/$defs/{name}" in str(schema)}}
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
NAMED = {
    rules: f"{name}.{field}"
    for name, vendor in vars(json_schemas).items()
    if isinstance(vendor, SchemaRules)
    for field in ("tools", "strict_tools", "outputs", "strict_outputs")
    if (rules := getattr(vendor, field)) is not None
}
ROWS: dict[str, Rules] = {name: rules for rules, name in NAMED.items()}


def is_accepted(schema: Any, value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("row", ROWS)
def test_rewritten_schema_accepts_as_much_as_its_warning_says(row: str):
    seen_effects = set[str]()

    @examples(25)
    @given(SCHEMAS, st.lists(OBJECTS, min_size=4, max_size=8))
    def check(schema: Any, values: list[Any]) -> None:
        changes = SchemaChanges()
        try:
            sent = rewrite(schema, ROWS[row], changes)
        except InvalidInputError:
            seen_effects.add("refused")
            return
        Draft202012Validator.check_schema(sent)
        effects = {change.effect for change in changes.recorded}
        seen_effects.update(effects or {"nothing"})
        for value in values:
            before, after = is_accepted(schema, value), is_accepted(sent, value)
            if "narrower" not in effects:
                assert after or not before, f"{value} is accepted no more"
            if "looser" not in effects:
                assert before or not after, f"{value} is accepted now"
        again = SchemaChanges()
        assert rewrite(sent, ROWS[row], again) == sent
        assert again.recorded == [], "what was rewritten is rewritten again"

    check()
    assert seen_effects - {"refused"}, "every schema is refused"
