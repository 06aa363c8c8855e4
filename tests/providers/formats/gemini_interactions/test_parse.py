"""Requests of clients: the forms of an input, what becomes an option, and errors with their path."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    Blob,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from tests.providers.formats.gemini_interactions.wire import INTERACTIONS, PROVIDER, read, request

ASK = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
CALL = {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}}
RESULT = {"type": "function_result", "call_id": "c1", "name": "f", "result": "12"}
IMAGE = {"type": "image", "mime_type": "image/png", "data": "aWE="}
PICTURE = ImagePart(Blob.from_bytes(b"ia", "image/png"))


@pytest.mark.parametrize(
    ("input", "parts"),
    [
        ("hi", (TextPart("hi"),)),
        ({"type": "text", "text": "hi"}, (TextPart("hi"),)),
        ([{"type": "text", "text": "hi"}, IMAGE], (TextPart("hi"), PICTURE)),
        ([{"type": "user_input", "content": [IMAGE]}], (PICTURE,)),
        ({"type": "user_input", "content": [IMAGE]}, (PICTURE,)),
    ],
    ids=["text", "content", "list of content", "list of steps", "step"],
)
def test_forms_of_an_input(input: Any, parts: Any):
    assert read(input).messages == (Message("user", parts),)


def test_steps_are_messages_in_order():
    thought = {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]}
    output = {"type": "model_output", "content": [{"type": "text", "text": "Let me look."}]}
    found = read([ASK, thought, output, CALL, RESULT, output, ASK], system_instruction="Be brief.").messages
    assert [message.role for message in found] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert found[2].parts == (
        ReasoningPart("Hm.", "c2ln", origin=f"{PROVIDER}/m"),
        TextPart("Let me look."),
        ToolCall("c1", "f", '{"a": 1}'),
    )
    assert found[3].parts == (ToolResult.text("c1", "12"),)


def test_arguments_keep_their_text():
    body = b'{"model": "m", "input": [%s, %s]}' % (
        b'{"type": "function_call", "id": "c1", "name": "f", "arguments": {"price": 1.10}}',
        b'{"type": "function_result", "call_id": "c1", "result": ""}',
    )
    (call,) = INTERACTIONS.parse(request(body)).call.messages[0].tool_calls
    assert call.arguments_text == '{"price": 1.10}'


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("12", (TextPart("12"),)),
        ("", ()),
        ([], ()),
        ([{"type": "text", "text": "12"}, IMAGE], (TextPart("12"), PICTURE)),
        ({"price": 12}, (TextPart('{"price":12}'),)),
    ],
)
def test_forms_of_a_result(result: Any, content: Any):
    (given,) = read([ASK, CALL, {**RESULT, "result": result}]).messages[2].parts
    assert given == ToolResult("c1", content)


def test_hosted_and_unknown_steps():
    steps = [
        {"type": "code_execution_call", "id": "h", "arguments": {"code": "1"}, "signature": "c2ln"},
        {"type": "code_execution_result", "call_id": "h", "result": "1\n", "signature": ""},
        {"type": "hologram", "projection": "cubic"},
        {"type": "model_output", "content": [{"type": "scent", "notes": 3}], "error": {"code": 13}},
    ]
    call, result, opaque, content, rest = read([ASK, *steps]).messages[1].parts
    metadata = {PROVIDER: {"type": "code_execution_call", "signature": "c2ln"}}
    assert call == HostedToolCall("h", "code_execution", '{"code": "1"}', metadata)
    assert result == HostedToolResult("h", (TextPart("1\n"),), {PROVIDER: {"type": "code_execution_result"}})
    assert opaque == OpaquePart(PROVIDER, "hologram", steps[2])
    assert content == OpaquePart(PROVIDER, "content.scent", {"type": "scent", "notes": 3})
    assert rest == OpaquePart(PROVIDER, "model_output", {"type": "model_output", "error": {"code": 13}})


def test_thought_with_an_image_is_opaque():
    thought = {"type": "thought", "signature": "c2ln", "summary": [IMAGE]}
    assert read([ASK, thought]).messages[1].parts == (OpaquePart(PROVIDER, "thought", thought),)


def test_stored_file_and_url():
    uri = "https://generativelanguage.googleapis.com/v1beta/files/abc"
    media = {"type": "document", "mime_type": "application/pdf"}
    kept, elsewhere = read([{**media, "uri": uri}, {**media, "uri": "https://a/b.pdf"}]).messages[0].parts
    assert kept == DocumentPart(Blob.from_provider_file(PROVIDER, uri, "application/pdf"))
    assert elsewhere == DocumentPart(Blob.from_url("https://a/b.pdf", "application/pdf"))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("any", ToolChoice("required")),
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ({"allowed_tools": {"mode": "any", "tools": ["f"]}}, ToolChoice("tool", "f")),
    ],
)
def test_tool_choice(choice: Any, expected: ToolChoice):
    call = read("hi", generation_config={"tool_choice": choice})
    assert (call.tool_choice, call.provider_options) == (expected, {})


@pytest.mark.parametrize(
    "config",
    [
        {"tool_choice": "validated"},
        {"tool_choice": {"allowed_tools": {"mode": "any", "tools": ["f", "g"]}}},
        {"tool_choice": {"allowed_tools": {"mode": "auto", "tools": ["f"]}}},
        {"thinking_level": "low"},
        {"thinking_level": "low", "thinking_summaries": "none"},
        {"thinking_level": "new", "thinking_summaries": "auto"},
        {"thinking_summaries": "auto"},
        {"image_config": {"image_size": "2K"}},
    ],
)
def test_settings_that_a_call_cannot_express_are_options(config: Any):
    call = read("hi", generation_config=config)
    assert call.provider_options[PROVIDER] == {"generation_config": config}
    assert (call.tool_choice, call.thinking) == (None, None)


def test_tools_that_a_call_cannot_express_are_options():
    tools = [{"type": "google_search", "search_types": ["web_search"]}, {"type": "url_context"}, {"type": "new"}]
    call = read("hi", tools=tools)
    assert call.hosted_tools == (HostedTool("web_search", {"search_types": ["web_search"]}),)
    assert call.provider_options[PROVIDER] == {"tools": tools[1:]}


def test_further_fields_of_a_function_are_named():
    tools = [{"type": "function", "name": "f", "defer_loading": True}]
    parsed = INTERACTIONS.parse(request({"model": "m", "input": "hi", "tools": tools}))
    assert [warning.path for warning in parsed.warnings] == ["tools[0].defer_loading"]


@pytest.mark.parametrize(
    "format",
    [
        {"type": "object", "properties": {}},
        {"type": "text"},
        [{"type": "text"}, {"type": "text"}],
        [{"type": "video"}],
        [{"type": "image", "aspect_ratio": "16:9"}],
        [],
    ],
)
def test_formats_that_a_call_cannot_express_are_options(format: Any):
    call = read("hi", response_format=format)
    assert (call.output, call.modalities) == (None, ())
    assert call.provider_options[PROVIDER] == {"response_format": format}


def test_agent_is_the_model_with_an_option():
    call = INTERACTIONS.parse(request({"agent": "deep", "input": "hi", "background": True, "stream": True})).call
    assert (call.model, call.stream) == ("deep", True)
    assert call.provider_options[PROVIDER] == {"agent": True, "background": True}


def test_results_of_a_stored_turn():
    call = read([RESULT, {**RESULT, "call_id": "c2", "name": "g"}, ASK], previous_interaction_id="v1")
    assert [message.role for message in call.messages] == ["assistant", "tool", "user"]
    assert call.messages[0].parts == (ToolCall("c1", "f", ""), ToolCall("c2", "g", ""))


def test_name_of_another_tool_is_named():
    parsed = INTERACTIONS.parse(request({"model": "m", "input": [ASK, CALL, {**RESULT, "name": "g"}]}))
    assert [warning.path for warning in parsed.warnings] == ["input[2].name"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"input": "hi"}, "model"),
        ({"model": "m"}, "input"),
        ({"model": "m", "input": 5}, "input"),
        ({"model": "m", "input": []}, "input"),
        ({"model": "m", "input": [{"content": []}]}, "input[0].type"),
        ({"model": "m", "input": [ASK, {"type": "text", "text": "hi"}]}, "input[1].type"),
        ({"model": "m", "input": [{"type": "user_input", "content": [{"type": "image"}]}]}, "input[0].content[0]"),
        ({"model": "m", "input": [{"type": "image", "data": "?"}]}, "input[0].data"),
        ({"model": "m", "input": [ASK, {**CALL, "arguments": "x"}]}, "input[1].arguments"),
        ({"model": "m", "input": [ASK, {**CALL, "id": ""}]}, "input[1].id"),
        ({"model": "m", "input": [ASK, CALL, CALL]}, "input[2].id"),
        ({"model": "m", "input": [ASK, RESULT]}, "input[1].call_id"),
        ({"model": "m", "input": [ASK, CALL, RESULT, RESULT]}, "input[3].call_id"),
        ({"model": "m", "input": [ASK, CALL, {**RESULT, "result": None}]}, "input[2].result"),
        ({"model": "m", "input": [ASK, CALL, {**RESULT, "result": [{"type": "scent"}]}]}, "input[2].result[0].type"),
        ({"model": "m", "input": "hi", "tools": [{"name": "f"}]}, "tools[0].type"),
        ({"model": "m", "input": "hi", "tools": [{"type": "function"}]}, "tools[0].name"),
        ({"model": "m", "input": "hi", "background": "yes"}, "background"),
        ({"model": "m", "input": "hi", "system_instruction": {"parts": []}}, "system_instruction"),
        ({"model": "m", "input": "hi", "generation_config": {"seed": "x"}}, "generation_config.seed"),
        (
            {"model": "m", "input": "hi", "generation_config": {"stop_sequences": "x"}},
            "generation_config.stop_sequences",
        ),
    ],
)
def test_error_has_the_path_in_the_request(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        INTERACTIONS.parse(request(body))
    assert caught.value.path == path
