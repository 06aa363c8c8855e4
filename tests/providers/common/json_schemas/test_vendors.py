"""Schemas of real types and tools by every vendor's rules, beside what the vendors' own clients make of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import transform_schema
from google.genai.types import JSONSchema
from ollama import Tool
from openai.lib._pydantic import to_strict_json_schema
from pydantic import BaseModel

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, OutputSchema, ToolSpec
from abstractcore_providers.common.json_schemas import (
    ANTHROPIC,
    CEREBRAS,
    COHERE,
    GEMINI,
    OLLAMA,
    OPENAI,
    SchemaRules,
)
from abstractcore_providers.common.json_schemas.fitting import fit_output, fit_tool
from tests.providers.common.json_schemas import schemas
from tests.providers.common.json_schemas.schemas import MODELS, TOOLS
from tests.providers.common.json_schemas.test_bad_schemas import VENDORS

ORDINARY = [schemas.Address, schemas.Person, schemas.Owner]
REFUSED = {
    ("ANTHROPIC", schemas.Maps),
    ("ANTHROPIC", schemas.Either),
    ("BEDROCK", schemas.Maps),
    ("BEDROCK", schemas.Either),
}
GOOGLE_KNOWS = {field.alias or name for name, field in JSONSchema.model_fields.items()}
LEFT_TO_PROPERTY_NAMES = ("properties", "$defs")


def output_of(
    model: type[BaseModel] | Any, rules: SchemaRules, strict: bool = True
) -> tuple[Any, bool, list[CallWarning]]:
    warnings: list[CallWarning] = []
    given = model if isinstance(model, dict) else model.model_json_schema()
    schema, strict = fit_output(OutputSchema("o", given, strict=strict), rules, warnings)
    return json.loads(json.dumps(schema)), strict, warnings


def tool_of(
    tool: str | Any, rules: SchemaRules, strict: bool | None = True
) -> tuple[Any, bool | None, list[CallWarning]]:
    warnings: list[CallWarning] = []
    spec = ToolSpec("f", parameters=TOOLS[tool] if isinstance(tool, str) else tool, strict=strict)
    schema, sent = fit_tool(spec, "tools[0]", rules, warnings)
    return json.loads(json.dumps(schema)), sent, warnings


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in one, itself among them."""
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    elif isinstance(schema, dict):
        yield schema
        for name, value in schema.items():
            if name in LEFT_TO_PROPERTY_NAMES:
                yield from nodes(list(value.values()))
            elif name not in ("enum", "const", "default", "required"):
                yield from nodes(value)


def objects(schema: Any) -> dict[str, tuple[Any, ...]]:
    """What each object with a title has, needs and allows."""
    return {
        node["title"]: (sorted(node["properties"]), sorted(node.get("required", ())), node.get("additionalProperties"))
        for node in nodes(schema)
        if "properties" in node
    }


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("model", MODELS)
def test_every_type_is_sent_or_refused_with_its_path_idempotently(vendor: str, model: type[BaseModel]):
    if (vendor, model) in REFUSED:
        with pytest.raises(InvalidInputError) as caught:
            output_of(model, VENDORS[vendor])
        assert caught.value.path.startswith("output.schema")
        assert caught.value.hint
        return
    sent, strict, warnings = output_of(model, VENDORS[vendor])
    assert len({warning.path for warning in warnings}) == len(warnings)
    assert output_of(sent, VENDORS[vendor], strict) == (sent, strict, [])


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("strict", [None, True])
def test_every_tool_is_sent_idempotently(vendor: str, name: str, strict: bool | None):
    sent, is_strict, warnings = tool_of(name, VENDORS[vendor], strict)
    assert {warning.path for warning in warnings} <= {"tools[0].parameters", "tools[0].strict"}
    assert tool_of(sent, VENDORS[vendor], is_strict) == (sent, is_strict, [])


@pytest.mark.parametrize("model", [*ORDINARY, schemas.Tree])
def test_openai_schemas_match_those_of_its_client(model: type[BaseModel]):
    sent, strict, _ = output_of(model, OPENAI)
    assert strict
    assert objects(sent) == objects(to_strict_json_schema(model))
    for node in nodes(sent):
        assert node.keys() == {"$ref"} or "$ref" not in node
        assert {"type", "$ref", "anyOf"} & node.keys()
        assert not {"oneOf", "allOf", "not", "prefixItems", "uniqueItems", "discriminator"} & node.keys()
    assert sent["type"] == "object"


@pytest.mark.parametrize("model", ORDINARY)
def test_anthropic_schemas_match_those_of_its_client(model: type[BaseModel]):
    sent, _, _ = output_of(model, ANTHROPIC)
    assert objects(sent) == objects(transform_schema(model))
    for node in nodes(sent):
        assert not {"minimum", "maximum", "minLength", "oneOf", "allOf", "prefixItems"} & node.keys()
        assert "minItems" not in node or node["minItems"] in (0, 1)


@pytest.mark.parametrize("model", [*ORDINARY, schemas.Tree])
def test_gemini_schemas_have_only_fields_that_its_client_knows(model: type[BaseModel]):
    """But for `prefixItems`, which the API's reference names, and references."""
    sent, _, _ = output_of(model, GEMINI)
    for node in nodes(sent):
        plain = {name for name in node if not name.startswith("$")}
        assert plain <= GOOGLE_KNOWS | {"prefixItems"}
        assert "$ref" not in node or not plain


@pytest.mark.parametrize("name", TOOLS)
def test_ollama_parameters_have_only_fields_that_its_client_knows_and_no_references(name: str):
    sent, _, _ = tool_of(name, OLLAMA, None)
    Tool.model_validate({"type": "function", "function": {"name": name, "parameters": sent}})
    assert all("$ref" not in node for node in nodes(sent))


@pytest.mark.parametrize(
    ("model", "rules", "effect"),
    [
        (schemas.Address, OPENAI, "schema_narrowed"),
        (schemas.Person, OPENAI, "schema_narrowed"),
        (schemas.Tree, OPENAI, "schema_narrowed"),
        (schemas.Owner, OPENAI, "schema_narrowed"),
        (schemas.Entry, OPENAI, "strict_left_out"),
        (schemas.Address, ANTHROPIC, "schema_rewritten"),
        (schemas.Tree, ANTHROPIC, "schema_rewritten"),
        (schemas.Tree, GEMINI, "schema_normalized"),
        (schemas.Chain, GEMINI, "schema_rewritten"),
        (schemas.Tree, COHERE, "schema_normalized"),
        (schemas.Maps, OPENAI, "strict_left_out"),
        (schemas.Anything, OPENAI, "strict_left_out"),
        (schemas.Tree, CEREBRAS, "strict_left_out"),
    ],
)
def test_warning_states_how_much_is_lost(model: type[BaseModel], rules: SchemaRules, effect: str):
    _, _, warnings = output_of(model, rules)
    assert effect in [warning.code for warning in warnings]


@pytest.mark.parametrize(
    ("name", "rules", "strict", "change"),
    [
        ("query", OPENAI, None, "$.anyOf became one object"),
        ("query", ANTHROPIC, None, "$.anyOf became one object"),
        ("create_entities", GEMINI, None, "$.properties.entities.items.$ref became #/$defs/entity"),
        ("create_entities", GEMINI, None, "$.properties.first.$ref became #/$defs/items"),
        ("create_entities", OLLAMA, None, "$.properties.entities.items.$ref became the schema it refers to"),
        ("search_issues", ANTHROPIC, True, "$.properties.per_page.maximum is left out (100)"),
        ("fetch", OPENAI, None, "$.properties.rows.items is added"),
    ],
)
def test_warning_names_paths_in_the_schema(name: str, rules: SchemaRules, strict: Any, change: str):
    _, _, warnings = tool_of(name, rules, strict)
    assert change in warnings[0].message


@pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC])
def test_tool_with_an_object_of_arbitrary_keys_is_not_strict(rules: SchemaRules):
    _, strict, warnings = tool_of("fetch", rules)
    assert strict is False
    assert ("strict_left_out", "tools[0].strict", False) in [(w.code, w.path, w.sent) for w in warnings]
    assert "tools[0].parameters.properties.headers" in warnings[0].message


def test_answer_with_an_object_of_arbitrary_keys_is_refused_where_schemas_are_always_enforced():
    with pytest.raises(InvalidInputError, match="an object with arbitrary keys") as caught:
        output_of(schemas.Maps, ANTHROPIC)
    assert caught.value.path == "output.schema.properties.counts"


@pytest.mark.parametrize("rules", VENDORS.values(), ids=list(VENDORS))
def test_schema_is_written_once_for_all_calls_of_plain_objects(rules: SchemaRules):
    """pydantic writes frozen dicts and lists many times slower."""
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    for strict in (None, True):
        warnings: list[CallWarning] = []
        spec = ToolSpec("f", parameters=closed, strict=strict)
        written = fit_tool(spec, "tools[0]", rules, warnings)[0]
        assert written == spec.parameters
        assert fit_tool(spec, "tools[1]", rules, warnings)[0] is written
        assert warnings == []
        assert [type(each) for each in (written, written["properties"], written["required"])] == [dict, dict, list]
