"""Parsing requests of clients: fields, warnings, refusals with their path."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ReasoningPart, TextPart, ToolCall, ToolChoice, ToolResult
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.wire import RESPONSES, function_call, parsed, request

HI = {"role": "user", "content": "hi"}


def output(call_id: str = "c1", output: Any = "a") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def test_adjacent_output_items_are_one_message():
    thought = {"type": "reasoning", "id": "rs_abc", "summary": [], "encrypted_content": "gAAA"}
    said = {"role": "assistant", "content": "let me see"}
    call = parsed(HI, thought, said, function_call("c1"), function_call("c2"), output("c2", "b"), output("c1"))
    assert call.messages == (
        Message.user("hi"),
        Message.assistant(
            ReasoningPart("", "rs_abc", "gAAA", f"{PROVIDER}/m"),
            TextPart("let me see"),
            ToolCall("c1", "f", provider_options={PROVIDER: {"id": "fc_c1x"}}),
            ToolCall("c2", "f", provider_options={PROVIDER: {"id": "fc_c2x"}}),
        ),
        Message.tool(ToolResult.text("c1", "a"), ToolResult.text("c2", "b")),
    )


def test_empty_message_is_left_out_with_a_warning():
    read = RESPONSES.parse(request({"model": "m", "input": [HI, {"role": "user", "content": ""}]}))
    assert read.call.messages == (Message.user("hi"),)
    assert [warning.path for warning in read.warnings] == ["input[1]"]


def test_unknown_fields_become_provider_options():
    odd = {"type": "input_text", "text": "hi", "odd": 1}
    result = {**output(output=[odd]), "namespace": "n", "id": "fco_1"}
    call = function_call("c1", namespace="x")
    read = RESPONSES.parse(
        request({"model": "m", "input": [{"role": "user", "content": [odd], "name": "x"}, call, result]})
    )
    asked, said, given = read.call.messages
    text = TextPart("hi", provider_options={PROVIDER: {"odd": 1}})
    assert read.warnings == ()
    assert asked == Message("user", (text,), {PROVIDER: {"name": "x"}})
    assert said.tool_calls[0].provider_options == {PROVIDER: {"id": "fc_c1x", "namespace": "x"}}
    assert given.parts == (ToolResult("c1", (text,), provider_options={PROVIDER: {"namespace": "n"}}),)


def test_unknown_fields_of_output_items_have_a_warning():
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "hi", "annotations": [], "odd": 1}]}
    read = RESPONSES.parse(request({"model": "m", "input": [HI, said]}))
    assert [warning.path for warning in read.warnings] == ["input[1].content[0].odd"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("none", ToolChoice("none")),
        ({"type": "function", "name": "f"}, ToolChoice("tool", "f")),
        ({"type": "web_search_preview"}, None),
        (None, None),
    ],
)
def test_tool_choice_is_read(choice: Any, expected: ToolChoice | None):
    call = parsed(HI, tool_choice=choice)
    assert call.tool_choice == expected
    assert ("tool_choice" in call.provider_options.get(PROVIDER, {})) is (isinstance(choice, dict) and not expected)


@pytest.mark.parametrize("level", ["low", "xhigh", "max"])
def test_effort_is_the_thinking_level(level: Any):
    call = parsed(HI, reasoning={"effort": level})
    assert (call.thinking, call.provider_options) == (level, {})


def test_unknown_effort_is_a_provider_option():
    call = parsed(HI, reasoning={"effort": "extreme"})
    assert call.thinking is None
    assert call.provider_options == {PROVIDER: {"reasoning": {"effort": "extreme"}}}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", ""),
        ([], ""),
        ({"input": "hi"}, "model"),
        ({"model": "m"}, "input"),
        ({"model": "m", "input": 5}, "input"),
        ({"model": "m", "input": [5]}, "input[0]"),
        ({"model": "m", "input": [{"role": "bard", "content": "hi"}]}, "input[0].role"),
        ({"model": "m", "input": [{"type": 5}]}, "input[0].type"),
        ({"model": "m", "input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"model": "m", "input": [{"role": "user", "content": [{"type": "odd"}]}]}, "input[0].content[0].type"),
        (
            {"model": "m", "input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:a,b"}]}]},
            "input[0].content[0].image_url",
        ),
        (
            {
                "model": "m",
                "input": [{"role": "user", "content": [{"type": "input_file", "file_data": "data:a;base64,!"}]}],
            },
            "input[0].content[0].file_data",
        ),
        (
            {"model": "m", "input": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]},
            "input[0].content[0].input_audio.format",
        ),
        ({"model": "m", "input": [HI, function_call() | {"call_id": 5}]}, "input[1].call_id"),
        ({"model": "m", "input": [HI, output()]}, "input[1]"),
        ({"model": "m", "input": [HI, function_call(), HI, output()]}, "input[3]"),
        ({"model": "m", "input": [HI, function_call(), function_call(), output()]}, "input[1]"),
        ({"model": "m", "input": [HI, function_call(), output(), output()]}, "input[3]"),
        (
            {"model": "m", "input": [{"type": "image_generation_call", "id": "a", "result": "!"}]},
            "input[0]",
        ),
        ({"model": "m", "input": "hi", "background": "yes"}, "background"),
        ({"model": "m", "input": [HI, {"type": "computer_call_output", "call_id": "c"}]}, "input[1].output"),
        (
            {"model": "m", "input": [HI, {"type": "computer_call_output", "call_id": "c", "output": {}}]},
            "input[1].output.image_url",
        ),
        ({"model": "m", "input": "hi", "stream": "yes"}, "stream"),
        ({"model": "m", "input": "hi", "temperature": "hot"}, "temperature"),
        ({"model": "m", "input": "hi", "tools": [{"type": "function"}]}, "tools[0].name"),
        ({"model": "m", "input": "hi", "tools": [5]}, "tools[0]"),
        ({"model": "m", "input": "hi", "tool_choice": "any"}, "tool_choice"),
        ({"model": "m", "input": "hi", "reasoning": 5}, "reasoning"),
        ({"model": "m", "input": "hi", "text": {"format": {"type": "json_schema"}}}, "text.format.name"),
        ({"model": "m", "input": "hi", "include": 5}, "include"),
        ({"model": "m", "input": "hi", "instructions": 5}, "instructions"),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        RESPONSES.parse(request(body))
    assert caught.value.path == path
