"""Parsing requests of clients: fields, warnings, refusals with their path."""

import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    DocumentPart,
    ImagePart,
    Message,
    ModelCall,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import COMPATIBLE
from tests.providers.formats.openai_chat.wire import CHAT, request

HELLO = {"role": "user", "content": "hi"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://a", "x": 1}}


def parsed(*messages: Any, **fields: Any) -> ModelCall:
    found = CHAT.parse(request({"model": "m", "messages": messages or [HELLO], **fields}))
    assert found.warnings == ()
    return found.call


def only(message: Any) -> Message:
    (found,) = parsed(message).messages
    return found


def calling(**call: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [call]}


F = {"name": "f", "arguments": "{}"}
CITED = {"url": "https://a", "title": "A", "start_index": 0, "end_index": 1}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HELLO, Message.user("hi")),
        ({"role": "developer", "content": "x"}, Message.system("x")),
        (
            {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            Message.system("ab"),
        ),
        ({"role": "assistant", "content": None, "refusal": "no"}, Message.assistant("no")),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, Message.assistant("no")),
        (
            {"role": "assistant", "content": "a", "tool_calls": [{"id": "c", "type": "function", "function": F}]},
            Message.assistant("a", ToolCall("c", "f", "{}")),
        ),
        (
            {"role": "assistant", "audio": {"id": "a1"}},
            Message.assistant(AudioPart(Blob.from_provider_file("openai", "a1", "audio/wav"), id="a1")),
        ),
        (
            {"role": "assistant", "audio": {"id": "a1", "data": "eA==", "transcript": "x", "expires_at": 5}},
            Message.assistant(AudioPart(Blob.from_bytes(b"x", "audio/wav"), "x", "a1")),
        ),
        (
            {"role": "assistant", "content": "a", "annotations": [{"type": "url_citation", "url_citation": CITED}]},
            Message.assistant(TextPart("a", (Citation("https://a", "A", start=0, end=1),))),
        ),
        ({"role": "assistant", "content": "a", "annotations": []}, Message.assistant("a")),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b", "detail": "high"}}]},
            Message.user(ImagePart(Blob.from_url("https://a/b", "image/*"), "high")),
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]},
            Message.user(ImagePart(Blob.from_bytes(b"x", "image/png"))),
        ),
        (
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "DATA:image/png;x=y;BASE64,eA=="}}],
            },
            Message.user(ImagePart(Blob.from_bytes(b"x", "image/png"))),
        ),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "eA==", "format": "mp3"}}]},
            Message.user(AudioPart(Blob.from_bytes(b"x", "audio/mpeg"))),
        ),
        (
            {
                "role": "user",
                "content": [{"type": "file", "file": {"file_data": "data:;base64,eA==", "filename": "a"}}],
            },
            Message.user(DocumentPart(Blob.from_bytes(b"x", "application/pdf"))),
        ),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]},
            Message.user(DocumentPart(Blob.from_provider_file("openai", "f1", "application/pdf"))),
        ),
    ],
)
def test_message_is_read(message: Any, expected: Message):
    assert only(message) == expected


def test_tool_results_are_one_message_in_call_order():
    calls = [{"id": id, "type": "function", "function": F} for id in ("a", "b")]
    results = [{"role": "tool", "tool_call_id": id, "content": id} for id in ("b", "a")]
    read = parsed(HELLO, {"role": "assistant", "tool_calls": calls}, *results)
    assert read.messages[2] == Message.tool(ToolResult.text("a", "a"), ToolResult.text("b", "b"))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"max_tokens": 5}, {"sampling": Sampling(5)}),
        ({"max_completion_tokens": 5}, {"sampling": Sampling(5)}),
        ({"stop": "x"}, {"sampling": Sampling(stop=("x",))}),
        ({"stop": ["x", "y"]}, {"sampling": Sampling(stop=("x", "y"))}),
        ({"temperature": 0, "top_k": 5}, {"sampling": Sampling(temperature=0, top_k=5)}),
        ({"logprobs": True}, {"sampling": Sampling(top_logprobs=0)}),
        ({"logprobs": True, "top_logprobs": 3}, {"sampling": Sampling(top_logprobs=3)}),
        ({"logprobs": False}, {}),
        ({"tool_choice": "required"}, {"tool_choice": ToolChoice("required")}),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, {"tool_choice": ToolChoice("tool", "f")}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
        ({"reasoning_effort": "none"}, {"thinking": "off"}),
        ({"reasoning_effort": "xhigh"}, {"thinking": "xhigh"}),
        ({"reasoning_effort": "extreme"}, {"provider_options": {"openai": {"reasoning_effort": "extreme"}}}),
        (
            {"response_format": {"type": "json_object"}},
            {"provider_options": {"openai": {"response_format": {"type": "json_object"}}}},
        ),
        (
            {"response_format": {"type": "text"}},
            {"provider_options": {"openai": {"response_format": {"type": "text"}}}},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": {"a": 1}}}},
            {"output": OutputSchema("o", {"a": 1}, strict=False)},
        ),
        ({"stream": True, "stream_options": {"include_usage": True}}, {"stream": True}),
        ({"modalities": ["text", "audio"]}, {"modalities": ("text", "audio")}),
        ({"user": "u", "n": 1, "metadata": None}, {"provider_options": {"openai": {"user": "u", "n": 1}}}),
        (
            dict.fromkeys(
                ["tools", "tool_choice", "stop", "stream", "seed", "modalities", "response_format", "max_tokens"]
            ),
            {},
        ),
    ],
    ids=lambda value: ",".join(value),
)
def test_field_is_read(fields: dict[str, Any], expected: dict[str, Any]):
    assert parsed(**fields) == ModelCall("m", (Message.user("hi"),), "openai", **expected)


def test_request_in_another_dialect_is_read():
    found = OpenAIChat(COMPATIBLE).parse(request({"model": "m", "messages": [HELLO], "x": 1})).call
    assert found.provider == "openai-compatible"
    assert found.provider_options == {"openai-compatible": {"x": 1}}


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"messages": [HELLO, {"role": "assistant", "content": ""}]}, ["messages[1]"]),
        ({"messages": [{"role": "user", "content": ""}, HELLO]}, ["messages[0]"]),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a", "x": 1}}]}
                ]
            },
            ["messages[0].content[0].image_url.x"],
        ),
        (
            {"messages": [HELLO], "tools": [{"type": "function", "x": 1, "function": {"name": "f", "y": 2}}]},
            ["tools[0].x", "tools[0].function.y"],
        ),
        (
            {"messages": [HELLO], "stream_options": {"include_obfuscation": False}},
            ["stream_options.include_obfuscation"],
        ),
        ({"messages": [HELLO], "max_tokens": 1, "max_completion_tokens": 2}, ["max_tokens"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_unsupported_fields_have_a_warning(body: dict[str, Any], paths: list[str]):
    found = CHAT.parse(request({"model": "m", **body}))
    assert [warning.path for warning in found.warnings] == paths
    assert len(found.call.messages) == 1 or "assistant" in {message.role for message in found.call.messages}


OPTION = {"openai": {"x": 1}}
TEXT: dict[str, Any] = {"type": "text", "text": "a"}
CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({**HELLO, "x": 1}, Message("user", (TextPart("hi"),), OPTION)),
        (
            {"role": "user", "content": [TEXT, {**TEXT, "x": 1}]},
            Message("user", (TextPart("a"), TextPart("a", provider_options=OPTION))),
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a"}, "x": 1}]},
            Message("user", (ImagePart(Blob.from_url("https://a", "image/*"), provider_options=OPTION),)),
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [{**CALL, "x": 1}], "y": 2},
            Message("assistant", (ToolCall("c", "f", provider_options=OPTION),), {"openai": {"y": 2}}),
        ),
        (
            {"role": "assistant", "content": "a", "audio": {"id": "b", "x": 1}},
            Message(
                "assistant",
                (
                    TextPart("a"),
                    AudioPart(Blob.from_provider_file("openai", "b", "audio/wav"), id="b", provider_options=OPTION),
                ),
            ),
        ),
    ],
    ids=["message", "text", "image", "tool call", "audio"],
)
def test_unknown_message_fields_survive_a_round_trip(message: dict[str, Any], expected: Message):
    messages = (
        [message, {"role": "tool", "tool_call_id": "c", "content": "r"}] if "tool_calls" in message else [message]
    )
    found = CHAT.parse(request({"model": "m", "messages": messages}))
    assert found.warnings == ()
    assert found.call.messages[0] == expected
    encoded = CHAT.encode(found.call)
    assert encoded.warnings == ()
    assert CHAT.parse(encoded.request).call == found.call


def test_result_options_are_in_its_message():
    payload = {"role": "tool", "tool_call_id": "c", "content": [{**TEXT, "x": 1}], "y": 2}
    found = CHAT.parse(request({"model": "m", "messages": [{"role": "assistant", "tool_calls": [CALL]}, payload]}))
    content = (TextPart("a", provider_options=OPTION),)
    assert found.call.messages[1].parts == (ToolResult("c", content, provider_options={"openai": {"y": 2}}),)
    assert json.loads(CHAT.encode(found.call).request.body)["messages"][1] == payload


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_sent_by_a_client_is_read(name: str):
    found = parsed(messages=[HELLO, {"role": "assistant", "content": "a", name: "b"}])
    assert found.messages[1].parts == (ReasoningPart("b", origin="openai/m"), TextPart("a"))


def part(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [fields]}]}


def tool(**function: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": function}]}


@pytest.mark.parametrize(
    ("body", "path", "what"),
    [
        ({"model": None}, "model", "expected text, got NoneType"),
        ({"model": 5}, "model", "expected text, got int"),
        ({"model": "\ud800"}, "model", "lone surrogate"),
        ({"messages": None}, "messages", "the call is empty"),
        ({"messages": []}, "messages", "the call is empty"),
        ({"messages": {}}, "messages", "expected a list, got dict"),
        ({"messages": ["hi"]}, "messages[0]", "expected an object, got str"),
        ({"messages": [{}]}, "messages[0].role", "expected text"),
        ({"messages": [{"role": "bard"}]}, "messages[0].role", "unknown role 'bard'"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "expected text or a list"),
        ({"messages": [{"role": "user", "content": ["a"]}]}, "messages[0].content[0]", "expected an object"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages", "the call is empty"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content", "lone surrogate"),
        (
            {"messages": [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]}]},
            "messages[0].parts[0]",
            "is not allowed here",
        ),
        (part(text="x"), "messages[0].content[0].type", "unknown content part None"),
        (part(type="smell"), "messages[0].content[0].type", "unknown content part 'smell'"),
        (part(type=["text"]), "messages[0].content[0].type", "unknown content part"),
        (part(type="text", text=5), "messages[0].content[0].text", "expected text"),
        (part(type="image_url", image_url="https://a"), "messages[0].content[0].image_url", "expected an object"),
        (
            part(type="image_url", image_url={"url": "https://a", "detail": "close"}),
            "messages[0].content[0].image_url.detail",
            "'close' is not one of",
        ),
        (
            part(type="image_url", image_url={"url": "data:image/png,x"}),
            "messages[0].content[0].image_url.url",
            "expected a data URL",
        ),
        (
            part(type="image_url", image_url={"url": "data:image/png;base64,%"}),
            "messages[0].content[0].image_url.url",
            "not base64",
        ),
        (
            part(type="image_url", image_url={"url": ""}),
            "messages[0].content[0].image_url.url",
            "is empty",
        ),
        (
            part(type="input_audio", input_audio={"data": "", "format": "flac"}),
            "messages[0].content[0].input_audio.format",
            "use 'wav' or 'mp3'",
        ),
        (
            part(type="input_audio", input_audio={"data": 5, "format": "wav"}),
            "messages[0].content[0].input_audio.data",
            "expected text",
        ),
        (part(type="file", file={}), "messages[0].content[0].file.file_data", "expected text"),
        ({"messages": [calling(id="c")]}, "messages[0].tool_calls[0].function", "expected an object"),
        ({"messages": [calling(function=F)]}, "messages[0].tool_calls[0].id", "expected text"),
        (
            {"messages": [calling(id="c", function={"name": "f", "arguments": {}})]},
            "messages[0].tool_calls[0].function.arguments",
            "expected text",
        ),
        ({"messages": [{"role": "assistant", "tool_calls": {}}]}, "messages[0].tool_calls", "expected a list"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id", "expected text"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "c"}]}, "messages[0]", "has no such call"),
        (
            {
                "messages": [
                    calling(id="c", function=F),
                    {"role": "tool", "tool_call_id": "c", "content": [{"type": "refusal", "refusal": 1}]},
                ]
            },
            "messages[1].content[0].refusal",
            "expected text",
        ),
        ({"temperature": "hot"}, "temperature", "expected a number"),
        ({"temperature": True}, "temperature", "expected a number"),
        ({"max_tokens": 0}, "max_tokens", "at least 1"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens", "expected an integer"),
        ({"stop": 5}, "stop", "expected a list"),
        ({"stop": [5]}, "stop[0]", "expected text"),
        ({"stop": ""}, "stop", "non-empty texts"),
        ({"stream": "yes"}, "stream", "expected true or false"),
        ({"logprobs": 1}, "logprobs", "expected true or false"),
        ({"parallel_tool_calls": 1}, "parallel_tool_calls", "expected true or false"),
        ({"modalities": "text"}, "modalities", "expected a list"),
        ({"modalities": ["smell"]}, "modalities[0]", "is not one of"),
        ({"modalities": [["text"]]}, "modalities[0]", "is not one of"),
        ({"tools": [5]}, "tools[0]", "expected an object"),
        ({"tools": [{"custom": {}}]}, "tools[0].function", "expected an object"),
        (tool(), "tools[0].function.name", "expected text"),
        (tool(name=""), "tools[0].function.name", "needs a name"),
        (tool(name="f", parameters=[]), "tools[0].function.parameters", "expected an object"),
        (tool(name="f", strict="yes"), "tools[0].function.strict", "expected true or false"),
        (tool(name="f", parameters={"a": float("nan")}), "tools[0].function.parameters.a", "nan"),
        ({"tools": [{"function": {"name": "f"}}, {"function": {"name": "f"}}]}, "tools[1].name", "two tools"),
        ({"tool_choice": "any"}, "tool_choice", "expected an object"),
        ({"tool_choice": ["auto"]}, "tool_choice", "expected an object"),
        ({"tool_choice": {"function": {}}}, "tool_choice.function.name", "expected text"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "expected an object"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {}}},
            "response_format.json_schema.name",
            "expected text",
        ),
        ({"x": float("inf")}, "x", "inf"),
        ({"x": {"y": ["\udfff"]}}, "x.y[0]", "lone surrogate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_request_is_refused_with_its_path(body: dict[str, Any], path: str, what: str):
    with pytest.raises(InvalidInputError, match=what) as caught:
        CHAT.parse(request({"model": "m", "messages": [HELLO], **body}))
    assert caught.value.path == path


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"model": "m"} x', b"nul"])
def test_body_that_is_not_json_is_refused(body: bytes):
    with pytest.raises(InvalidInputError, match="the body is not JSON"):
        CHAT.parse(request(body))


@pytest.mark.parametrize("body", [b"[]", b"5", b'"x"', b"null"])
def test_body_that_is_not_an_object_is_refused(body: bytes):
    with pytest.raises(InvalidInputError, match="expected an object"):
        CHAT.parse(request(body))


def test_byte_order_mark_is_accepted():
    body = b"\xef\xbb\xbf" + json.dumps({"model": "m", "messages": [HELLO]}).encode()
    assert CHAT.parse(request(body)).call.messages == (Message("user", (TextPart("hi"),)),)
