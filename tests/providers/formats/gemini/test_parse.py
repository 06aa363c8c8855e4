"""Parsing requests of clients: fields, warnings, refusals with their path."""

import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    HostedTool,
    HostedToolCall,
    ImagePart,
    Message,
    OpaquePart,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    VideoPart,
)
from tests.providers.formats.gemini.wire import GEMINI, read, request

SAID = {"role": "user", "parts": [{"text": "hi"}]}
CALLED = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g"}}]}


def result(name: str, **fields: Any) -> Any:
    return {"functionResponse": {"name": name, "response": {"output": "x"}, **fields}}


def test_model_and_stream_are_read_from_the_url():
    for url, stream in (
        ("/v1beta/models/m-1:generateContent", False),
        ("https://host/v1/projects/p/locations/l/publishers/google/models/m-1:streamGenerateContent?alt=sse", True),
    ):
        parsed = GEMINI.parse(request({"contents": [SAID]}, url)).call
        assert (parsed.model, parsed.stream) == ("m-1", stream)


def test_snake_case_field_names_are_accepted():
    parsed = read(
        {"parts": [{"inline_data": {"mime_type": "image/png", "data": "aGk="}}]},
        system_instruction={"parts": [{"text": "s"}]},
        generation_config={"max_output_tokens": 5, "thinking_config": {"thinking_budget": 0}},
        tool_config={"function_calling_config": {"mode": "ANY"}},
    )
    assert parsed.messages[0] == Message.system("s")
    assert isinstance(parsed.messages[1].parts[0], ImagePart)
    assert (parsed.sampling.max_output_tokens, parsed.thinking) == (5, "off")
    assert parsed.tool_choice == ToolChoice("required")


def test_calls_without_ids_get_ids_and_results_match_by_name():
    parsed = read(SAID, CALLED, {"role": "function", "parts": [result("g"), result("f"), {"text": "go on"}]})
    assert [call.id for call in parsed.messages[1].tool_calls] == ["call_1_0", "call_1_1"]
    assert parsed.messages[2] == Message.tool(ToolResult.text("call_1_0", "x"), ToolResult.text("call_1_1", "x"))
    assert parsed.messages[3] == Message.user("go on")


def test_two_calls_of_one_name_get_their_results_in_order():
    calls = {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]}
    answers = [result("f", response={"output": text}) for text in ("1", "2")]
    tool = read(SAID, calls, {"role": "user", "parts": answers}).messages[2]
    assert tool == Message.tool(ToolResult.text("call_1_0", "1"), ToolResult.text("call_1_1", "2"))


@pytest.mark.parametrize(
    ("given", "content", "is_error"),
    [
        ({"output": "a"}, "a", False),
        ({"error": "a"}, "a", True),
        ({"output": {"a": 1}}, '{"a":1}', False),
        ({"result": [1]}, '{"result":[1]}', False),
        ({}, "", False),
    ],
)
def test_results_of_any_shape_are_text(given: Any, content: str, is_error: bool):
    tool = read(SAID, CALLED, {"parts": [result("f", response=given)]}).messages[2]
    assert tool == Message.tool(ToolResult.text("call_1_0", content, is_error=is_error))


def test_unreferenced_files_in_results_follow_the_text():
    files = [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]
    tool = read(SAID, CALLED, {"parts": [result("f", parts=files)]}).messages[2]
    (found,) = tool.parts
    assert isinstance(found, ToolResult)
    assert [part.type for part in found.content] == ["text", "image"]


def test_openapi_schemas_become_json_schemas():
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING", "nullable": True}}},
        "anyOf": [{"type": "STRING"}],
        "propertyOrdering": ["a"],
    }
    expected = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": ["string", "null"]}}},
        "anyOf": [{"type": "string"}],
    }
    parsed = read(
        SAID,
        tools=[{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
        generationConfig={"responseMimeType": "application/json", "responseSchema": schema},
    )
    assert parsed.output is not None
    assert GEMINI.encode(parsed).warnings == ()
    for found in (parsed.tools[0].parameters, parsed.output.schema):
        assert found == expected


def test_hosted_tools_and_their_results_are_read():
    ran = {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"strange": 1}]}
    parsed = read(SAID, ran, SAID, tools=[{"codeExecution": {}}, {"googleMaps": {}}])
    assert parsed.hosted_tools == (HostedTool("code_interpreter"),)
    assert parsed.provider_options == {"google": {"tools": [{"googleMaps": {}}]}}
    assert parsed.messages[1].parts == (
        HostedToolCall("", "code_execution", '{"language":"PYTHON","code":"1"}'),
        OpaquePart("google", "strange", {"strange": 1}),
    )


def test_files_are_identified_by_their_uri():
    uri = "https://generativelanguage.googleapis.com/v1beta/files/a"
    files = [{"fileData": {"fileUri": place, "mimeType": "video/mp4"}} for place in (uri, "gs://b/c")]
    first, second = read({"parts": files}).messages[0].parts
    assert isinstance(first, VideoPart)
    assert isinstance(second, VideoPart)
    assert (first.blob.form, second.blob.form) == ("provider_file", "url")


def test_unsupported_fields_have_a_warning():
    body = {
        "model": "other",
        "contents": [
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "model", "parts": []},
            {"role": "model", "parts": [{"text": "b", "thought": True, "x": 1}, {"functionCall": {"name": "f"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f"}, "y": 1}], "z": 1},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "behavior": "BLOCKING"}]}],
    }
    warnings = GEMINI.parse(request(body)).warnings
    assert [(warning.code, warning.path) for warning in warnings] == [
        ("field_left_out", "model"),
        ("message_left_out", "contents[1]"),
        ("field_left_out", "contents[2].parts[0].x"),
        ("field_left_out", "contents[3].parts[0].y"),
        ("field_left_out", "contents[3].z"),
        ("field_left_out", "tools[0].functionDeclarations[0].behavior"),
    ]


def test_unknown_fields_become_provider_options():
    clip = {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a"}, "videoMetadata": {"contentLayers": ["FRAMES"]}}
    answered = {"name": "f", "id": "c", "response": {"output": "8"}, "scheduling": "SILENT"}
    body = {
        "contents": [
            {"role": "user", "parts": [clip, {"text": "a", "partMetadata": {"n": 1}}, {"text": "b"}], "x": 1},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "id": "c"}, "partMetadata": {"n": 2}}]},
            {"role": "user", "parts": [{"functionResponse": answered}]},
        ],
        "systemInstruction": {"parts": [{"text": "s", "partMetadata": {"n": 3}}]},
    }
    read = GEMINI.parse(request(body))
    said = [part for message in read.call.messages for part in message.parts]
    assert read.warnings == ()
    assert read.call.messages[1].provider_options == {"google": {"x": 1}}
    assert [getattr(part, "provider_options", {}).get("google") for part in said] == [
        {"partMetadata": {"n": 3}},
        {"videoMetadata": {"contentLayers": ["FRAMES"]}},
        {"partMetadata": {"n": 1}},
        None,
        {"partMetadata": {"n": 2}},
        {"scheduling": "SILENT"},
    ]
    assert json.loads(GEMINI.encode(read.call).request.body) == body


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", ""),
        ([], ""),
        ({}, "contents"),
        ({"contents": 5}, "contents"),
        ({"contents": [5]}, "contents[0]"),
        ({"contents": [{"role": "bard", "parts": []}]}, "contents[0].role"),
        ({"contents": [{"parts": [{}]}]}, "contents[0].parts[0]"),
        ({"contents": [{"parts": [{"text": 5}]}]}, "contents[0].parts[0].text"),
        ({"contents": [{"parts": [{"inlineData": {"data": "%"}}]}]}, "contents[0].parts[0].inlineData.data"),
        ({"contents": [{"parts": [{"fileData": {}}]}]}, "contents[0].parts[0].fileData.fileUri"),
        ({"contents": [{"parts": [{"functionCall": {"name": "f"}}]}]}, "contents[0].parts[0].functionCall"),
        ({"contents": [SAID, {"role": "model", "parts": [result("f")]}]}, "contents[1].parts[0].functionResponse"),
        ({"contents": [SAID, {"parts": [result("f")]}]}, "contents[1].parts[0].functionResponse.name"),
        (
            {"contents": [SAID, CALLED, {"parts": [result("f", id="no")]}]},
            "contents[2].parts[0].functionResponse.id",
        ),
        (
            {"contents": [SAID, CALLED, {"parts": [result("f"), result("f")]}]},
            "contents[2].parts[1].functionResponse.name",
        ),
        (
            {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": 5}}]}]},
            "contents[0].parts[0].functionCall.args",
        ),
        (
            {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "id": "a"}}] * 2}]},
            "messages[0]",
        ),
        ({"contents": [SAID], "systemInstruction": {"parts": [{}]}}, "systemInstruction.parts[0].text"),
        ({"contents": [SAID], "generationConfig": {"topP": 2}}, "generationConfig.topP"),
        ({"contents": [SAID], "generationConfig": {"stopSequences": [5]}}, "generationConfig.stopSequences[0]"),
        ({"contents": [SAID], "generationConfig": {"responseJsonSchema": 5}}, "generationConfig.responseJsonSchema"),
        ({"contents": [SAID], "tools": [{"functionDeclarations": [{}]}]}, "tools[0].functionDeclarations[0].name"),
        (
            {"contents": [SAID], "tools": [{"functionDeclarations": [{"name": "f", "parameters": 5}]}]},
            "tools[0].functionDeclarations[0].parameters",
        ),
        ({"contents": [SAID], "tools": [{"googleSearch": 5}]}, "tools[0].googleSearch"),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        GEMINI.parse(request(body))
    assert caught.value.path == path


def test_url_without_a_model_is_refused():
    with pytest.raises(InvalidInputError, match="does not name a model") as caught:
        GEMINI.parse(request({"contents": [SAID]}, "/chat/completions"))
    assert caught.value.path == "url"


def test_empty_thought_is_dropped_and_call_arguments_keep_their_text():
    odd = b'{"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"","thought":true},'
    body = odd + b'{"functionCall":{"name":"f","args":{"a":1.10, "a":2}}}]}]}'
    parts = GEMINI.parse(request(body)).call.messages[1].parts
    assert parts == (ToolCall("call_1_0", "f", '{"a":1.10, "a":2}'),)
    assert not any(isinstance(part, TextPart) for part in parts)
