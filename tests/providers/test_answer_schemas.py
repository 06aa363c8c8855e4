"""Typed answers of every provider: the mode that is chosen can express the schema, or the call is refused in words.

`jsonschema` is the judge: the schema in the request, however the answer is requested, accepts a value that the user's
schema accepts, and refuses values of another shape.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from abstractcore import UnsupportedOptionError
from abstractcore.engine.lowering.output import instruction
from abstractcore.schema import CallWarning, Message, ModelCall, OutputMode, OutputSchema
from tests.providers.operations import has_chat
from tests.providers.sessions import lowered
from tests.providers.vendors.test_lowering import PROVIDERS, session

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def an_object(properties: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), **fields}


def nested(levels: int, leaf: Any, wrap: Any) -> Any:
    for _ in range(levels):
        leaf = wrap(leaf)
    return leaf


@dataclass
class Kind:
    """A schema with a value that it accepts, and values of another shape."""

    schema: dict[str, Any]
    good: Any
    bad: tuple[Any, ...] = ()


TREE = {"type": "object", "properties": {"value": TEXT, "branches": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}
KINDS = {
    "plain": Kind(an_object({"a": TEXT}), {"a": "x"}, ({"a": 1},)),
    "map": Kind({"type": "object", "additionalProperties": NUMBER}, {"b": 1}, ({"b": "x"},)),
    "object": Kind({"type": "object"}, {"b": 1}),
    "map in an object": Kind(
        an_object({"m": {"type": "object", "additionalProperties": NUMBER}}), {"m": {"b": 1}}, ({"m": {"b": "x"}},)
    ),
    "map of anything": Kind(an_object({"m": {"type": "object", "additionalProperties": True}}), {"m": {"b": [1]}}),
    "extra keys": Kind(an_object({"a": TEXT}, additionalProperties=True), {"a": "x", "b": 1}, ({"a": 1},)),
    "extra keys of a type": Kind(
        an_object({"a": TEXT}, additionalProperties=NUMBER), {"a": "x", "b": 1}, ({"a": "x", "b": "y"},)
    ),
    "keys by a pattern": Kind(
        an_object({"m": {"type": "object", "patternProperties": {"^x_": NUMBER}}}),
        {"m": {"x_1": 1}},
        ({"m": {"x_1": "y"}},),
    ),
    "recursion": Kind(
        an_object({"t": {"$ref": "#/$defs/t"}}, **{"$defs": {"t": {**TREE, "required": ["value"]}}}),
        {"t": {"value": "x", "branches": [{"value": "y", "branches": [{"value": "z", "branches": []}]}]}},
        ({"t": {"value": "x", "branches": [{"value": "y", "branches": [{"value": 1, "branches": []}]}]}},),
    ),
    "recursion that must go on": Kind(
        an_object(
            {"t": {"$ref": "#/$defs/t"}},
            **{"$defs": {"t": an_object({"v": TEXT, "t": {"anyOf": [{"$ref": "#/$defs/t"}, {"type": "null"}]}})}},
        ),
        {"t": {"v": "x", "t": {"v": "y", "t": None}}},
        ({"t": {"v": "x", "t": {"v": 1, "t": None}}},),
    ),
    "tuple": Kind(
        an_object({"p": {"type": "array", "prefixItems": [TEXT, NUMBER], "minItems": 2, "maxItems": 2}}),
        {"p": ["x", 1]},
        ({"p": [1, "x"]},),
    ),
    "tuple of one type": Kind(
        an_object({"p": {"type": "array", "prefixItems": [NUMBER, NUMBER], "minItems": 2, "maxItems": 2}}),
        {"p": [1, 2]},
        ({"p": ["x", "y"]},),
    ),
    "anything": Kind(an_object({"a": {}}), {"a": [1]}),
    "deep": Kind(
        nested(15, an_object({"a": TEXT}), lambda schema: an_object({"a": schema})),
        nested(15, {"a": "x"}, lambda value: {"a": value}),
        (nested(15, {"a": 1}, lambda value: {"a": value}),),
    ),
    "wide": Kind(
        an_object({f"p{i}": TEXT for i in range(6_000)}),
        {f"p{i}": "x" for i in range(6_000)},
        ({f"p{i}": i for i in range(6_000)},),
    ),
    "optional": Kind(
        {"type": "object", "properties": {f"p{i}": TEXT for i in range(30)}},
        {f"p{i}": "x" for i in range(30)},
        ({f"p{i}": 1 for i in range(30)},),
    ),
    "unions": Kind(
        an_object({f"p{i}": {"anyOf": [TEXT, NUMBER]} for i in range(20)}),
        {f"p{i}": i for i in range(20)},
        ({f"p{i}": [] for i in range(20)},),
    ),
    "one of two": Kind(
        an_object({"u": {"oneOf": [an_object({"a": TEXT}), an_object({"b": NUMBER})]}}),
        {"u": {"b": 1}},
        ({"u": {"b": "x"}},),
    ),
    "all of two": Kind(
        an_object({"u": {"allOf": [an_object({"a": TEXT}), an_object({"b": NUMBER})]}}),
        {"u": {"a": "x", "b": 1}},
        ({"u": {"a": 1, "b": "x"}},),
    ),
    "pattern": Kind(an_object({"a": {"type": "string", "pattern": "^(?=a)[a-z]+$"}}), {"a": "ab"}, ({"a": 1},)),
    "limits": Kind(an_object({"a": {"type": "integer", "minimum": 1, "maximum": 9}}), {"a": 3}, ({"a": "x"},)),
}
MODES: tuple[OutputMode | None, ...] = (None, "native", "tool", "prompted")
OTHERS = ("scripted", "local", "openai-compatible")
"""Providers whose model is in this program, or whose rules are those of another one here."""
NAMES = sorted(name for name in set(PROVIDERS) - set(OTHERS) if has_chat(session(name, "mine")))


def call_of(provider: str, kind: str, **fields: Any) -> ModelCall:
    output = OutputSchema("Answer", KINDS[kind].schema)
    return ModelCall("mine", (Message.user("hi"),), provider, output=output, **fields)


def sent_schemas(
    provider: str, call: ModelCall
) -> tuple[str, list[Any], tuple[CallWarning, ...]] | UnsupportedOptionError:
    """The mode, the schemas in the request, and the warnings; the error if the call is refused."""
    made = session(provider, "mine")
    try:
        found = lowered(made, call)
    except UnsupportedOptionError as error:
        return error
    encoded = made.transpiler.encode(found.call)
    warnings = (*found.warnings, *encoded.warnings)
    assert call.output is not None
    if found.call.output is None and found.reading is None:
        assert any(instruction(call.output) in message.text for message in found.call.messages)
        return "prompted", [call.output.schema], warnings
    read = made.transpiler.parse(encoded.request).call
    if found.reading is not None:
        return "tool", [read.tools[-1].parameters], warnings
    assert read.output is not None
    return "native", [read.output.schema], warnings


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.exhaustive
@pytest.mark.parametrize("provider", NAMES)
def test_chosen_mode_expresses_the_schema_or_the_call_is_refused(provider: str):
    walked, refused = 0, 0
    for name, kind in KINDS.items():
        for mode in MODES:
            found = sent_schemas(provider, call_of(provider, name, output_mode=mode))
            walked += 1
            if isinstance(found, UnsupportedOptionError):
                refused += 1
                assert mode in ("native", "tool"), (name, mode)
                assert f"output_mode={mode!r}" in str(found)
                continue
            used, schemas, warnings = found
            assert used == (mode or used), (name, mode)
            for schema in schemas:
                validator = Draft202012Validator(plain(schema))
                assert validator.is_valid(kind.good), (name, mode, used, schema)
                assert not [bad for bad in kind.bad if validator.is_valid(bad)], (name, mode, used, schema)
            if mode is None and used != "native":
                codes = [warning.code for warning in warnings]
                assert {"tool": "schema_as_tool", "prompted": "schema_as_instruction"}[used] in codes
    assert walked == len(KINDS) * len(MODES)


EXPECTED = {
    "anthropic": {"map", "object", "map in an object", "map of anything", "extra keys", "extra keys of a type"}
    | {"keys by a pattern", "recursion", "recursion that must go on", "tuple", "optional", "unions"},
    "openai": set[str](),
}
EXPECTED["bedrock"] = EXPECTED["anthropic"]


@pytest.mark.parametrize("provider", EXPECTED)
def test_schemas_that_structured_output_cannot_express_are_arguments_of_a_forced_tool(provider: str):
    found = set[str]()
    for name in KINDS.keys() - {"wide"}:
        call = lowered(session(provider, "mine"), call_of(provider, name)).call
        if call.output is None:
            assert call.tool_choice is not None
            assert (call.tool_choice.mode, call.tool_choice.tool) == ("tool", "final_answer")
            found.add(name)
    assert found == EXPECTED[provider]
