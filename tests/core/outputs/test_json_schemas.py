"""`response_model` as a JSON Schema: validated JSON data, wrapped if it is no object."""

import sys
from typing import Any

import pytest

from abstractcore import InvalidInputError, MissingExtraError, OutputValidationError
from tests.core.tools.loops import Way, scripted

CITY: dict[str, Any] = {
    "title": "City",
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer", "minimum": 1}},
    "required": ["name", "people"],
}


def test_output_is_json_data(way: Way):
    llm = scripted('{"name": "Bern", "people": 134000}')
    assert way.generate(llm, response_model=CITY).output == {"name": "Bern", "people": 134000}
    sent = llm.calls[0].output
    assert sent is not None
    assert (sent.name, list(sent.schema["properties"])) == ("City", ["name", "people"])  # type: ignore[arg-type]


def test_invalid_data_is_corrected(way: Way):
    llm = scripted('{"name": 3, "people": 0}', '{"name": "Bern", "people": 1}')
    response = way.generate(llm, response_model=CITY)
    assert response.output["people"] == 1
    correction = llm.calls[1].messages[-1].text
    assert "- name: 3 is not of type 'string', got 3" in correction
    assert "- people: 0 is less than the minimum of 1, got 0" in correction


@pytest.mark.parametrize("answer", ["[1, 2]", '{"value": [1, 2]}', "```json\n[1, 2]\n```"])
def test_schema_of_another_value_than_an_object_is_wrapped(answer: str):
    llm = scripted(answer)
    assert llm.generate("hi", response_model={"type": "array", "items": {"type": "integer"}}).output == [1, 2]
    sent = llm.calls[0].output
    assert sent is not None
    assert sent.schema["properties"] == {"value": {"type": "array", "items": {"type": "integer"}}}


def test_references_follow_a_wrapped_schema():
    tree = {
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#"}]},
        "$defs": {"leaf": {"type": "string"}},
    }
    llm = scripted('{"value": ["a", ["b", ["c"]]]}')
    assert llm.generate("hi", response_model=tree).output == ["a", ["b", ["c"]]]
    sent = llm.calls[0].output
    assert sent is not None
    assert sent.schema["$defs"] == {"leaf": {"type": "string"}}
    inner = sent.schema["properties"]["value"]["items"]["anyOf"]  # type: ignore[index, call-overload]
    assert inner == [{"$ref": "#/$defs/leaf"}, {"$ref": "#/properties/value"}]


@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        ({"type": "objekt"}, "response_model.type", "is not valid under any"),
        ({"properties": {"a": {"minimum": "1"}}}, "response_model.properties.a.minimum", "not of type 'number'"),
        ({"$ref": "https://example.com/a.json"}, "response_model.$ref", "never fetched"),
        ({"items": {"$ref": "#/$defs/no"}}, "response_model.items.$ref", "is not in this schema"),
        ({"$schema": "https://example.com/own"}, "response_model.$schema", "not a known draft"),
        ({"type": object()}, "response_model.type", "object"),
    ],
    ids=["type", "minimum", "remote", "missing", "draft", "no JSON"],
)
def test_invalid_schema_is_refused_before_sending_with_its_path(schema: Any, path: str, message: str):
    llm = scripted("{}")
    with pytest.raises(InvalidInputError, match=message) as caught:
        llm.generate("hi", response_model=schema)
    assert caught.value.path == path
    assert list(llm.calls) == []


def test_nan_is_no_json():
    with pytest.raises(OutputValidationError, match="Invalid JSON"):
        scripted('{"name": "a", "people": NaN}').generate("hi", response_model=CITY, output_retries=0)


def test_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(MissingExtraError, match="pip install jsonschema"):
        scripted("{}").generate("hi", response_model=CITY)


def test_validation_context_needs_a_python_type():
    with pytest.raises(InvalidInputError, match="no validators"):
        scripted("{}").generate("hi", response_model=CITY, validation_context={})
