"""The grammar of calls, as text. tests/providers/local/test_prompted_tools.py runs it in llama.cpp."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore.schema import ToolChoice, ToolSpec
from abstractcore.tools.prompted.descriptions import call_grammar

WEATHER = ToolSpec("weather", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
NOW = ToolSpec("now")


def rules(*arguments: Any) -> dict[str, str]:
    grammar = call_grammar(*arguments)
    assert grammar is not None
    return {name: body for name, _, body in (line.partition(" ::= ") for line in grammar.splitlines())}


def test_auto_choice_has_a_branch_of_text():
    found = rules([WEATHER, NOW])
    assert found["root"] == r'calls | text calls? | "```json\n" json "\n```" | json'
    assert "text" in found
    assert found["call"] == r'"<tool_call>\n" json "\n</tool_call>"'
    assert found["json"] == "call0 | call1"
    tagged = call_grammar([WEATHER, NOW], plain=False)
    assert tagged is not None
    assert tagged.startswith("root ::= calls | text calls?\n")


def test_text_has_no_control_tokens():
    """llama.cpp gives a grammar `<|im_start|>` for the token of that name, which would begin another turn."""
    found = rules([WEATHER])
    assert found["other"] == "[^<] | tag"
    assert found["tag"] == '"<" [^t|] | "<t" [^o] | "<|" [^a-zA-Z]'
    assert "tag" in found["first"]
    assert '"<"' not in found["first"]


@pytest.mark.parametrize("choice", [ToolChoice("required"), ToolChoice("tool", "now")])
def test_required_call_has_none(choice: ToolChoice):
    found = rules([WEATHER, NOW], choice)
    assert found["root"] == "calls"
    assert "text" not in found
    assert ("weather" in str(found)) == (choice.mode == "required")


def test_forbidden_calls_have_no_grammar():
    assert call_grammar([WEATHER], ToolChoice("none")) is None
    assert call_grammar([]) is None


@pytest.mark.parametrize(("parallel", "calls"), [(None, "call"), (False, "call"), (True, r'call ("\n" call){0,15}')])
def test_several_calls_must_be_asked_for(parallel: bool | None, calls: str):
    assert rules([WEATHER], None, parallel)["calls"] == calls


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer", "minimum": 1}, "integer"),
        ({"enum": ["c", 'f"', 1, None]}, r'("\"c\"" | "\"f\\\"\"" | "1" | "null")'),
        ({"const": True}, '("true")'),
        ({"type": ["string", "null"]}, "(string | null)"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "(string | null)"),
        ({"type": "array", "items": {"type": "number"}}, '"[" ws (number ("," ws number)*)? ws "]"'),
        ({"type": "array"}, '"[" ws (value ("," ws value)*)? ws "]"'),
        ({"$ref": "#/$defs/Unit"}, '("\\"c\\"")'),
        ({"$ref": "#/$defs/Loop"}, "value"),
        ({"type": "object"}, "object"),
        ({"type": "object", "properties": {}}, '"{}"'),
        ({}, "value"),
        ({"not": {"type": "string"}}, "value"),
        (
            {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}},
            r'"{" ("\"a\": " null (", " "\"b\": " null)? | "\"b\": " null)? "}"',
        ),
    ],
)
def test_rule_of_a_schema(schema: dict[str, Any], rule: str):
    definitions = {"Unit": {"enum": ["c"]}, "Loop": {"$ref": "#/$defs/Loop"}}
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"], "$defs": definitions}
    found = rules([ToolSpec("f", "", parameters)])["call0"]
    assert found == rf'"{{\"name\": \"f\", \"arguments\": " "{{" "\"x\": " {rule} "}}" "}}"'


def test_required_parameters_come_first():
    properties = {"a": {"type": "null"}, "b": {"type": "boolean"}}
    found = rules([ToolSpec("f", "", {"type": "object", "properties": properties, "required": ["b"]})])["call0"]
    assert found.endswith(r'"{" "\"b\": " boolean (", " "\"a\": " null)? "}" "}"')
