"""Parsing requests of clients: fields, warnings, refusals with their path."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, ServerError
from abstractcore.schema import (
    Blob,
    CachePoint,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    TextPart,
    ToolCall,
    ToolResult,
    WireRequest,
)
from tests.providers.formats.bedrock_converse.wire import CONVERSE, decoded_reply, reply_with, request, response

HELLO: Any = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}


def said(*content: Any, role: str = "user", before: Any = ()) -> tuple[Message, ...]:
    """The messages in a request whose last one is this."""
    body = {"messages": [*before, {"role": role, "content": list(content)}]}
    return CONVERSE.parse(request(body)).call.messages


@pytest.mark.parametrize(
    ("url", "model", "stream"),
    [
        ("/model/m/converse", "m", False),
        ("/model/a%3Ab%2Fc/converse-stream", "a:b/c", True),
        ("https://host/prefix/model/m/converse?x=1", "m", False),
    ],
)
def test_model_and_stream_are_read_from_the_url(url: str, model: str, stream: bool):
    call = CONVERSE.parse(WireRequest(url, {}, request(HELLO).body)).call
    assert (call.model, call.stream, call.provider) == (model, stream, "bedrock")


@pytest.mark.parametrize("url", ["/model/m/invoke", "/model//converse", "/converse", ""])
def test_other_urls_are_no_operation(url: str):
    with pytest.raises(InvalidInputError, match="not an operation"):
        CONVERSE.parse(WireRequest(url, {}, request(HELLO).body))


def test_user_texts_are_separate_messages_and_assistant_texts_one():
    assert said({"text": "a"}, {"text": "b"}) == (Message.user("a"), Message.user("b"))
    before = [{"role": "user", "content": [{"text": "hi"}]}]
    (_, answer) = said({"text": "a"}, {"text": "b"}, role="assistant", before=before)
    assert answer == Message.assistant("ab")


def test_system_message_may_be_anywhere():
    body = {"messages": [*HELLO["messages"], {"role": "system", "content": [{"text": "be brief"}]}]}
    assert CONVERSE.parse(request(body)).call.messages[1] == Message.system("be brief")


def test_tool_results_become_a_message_before_user_content():
    use = {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1.50}}}
    result = {"toolResult": {"toolUseId": "c", "content": [{"json": [1]}, {"text": "x"}]}}
    before = [*HELLO["messages"], {"role": "assistant", "content": [use]}]
    messages = said({"text": "go on"}, result, before=before)
    assert messages[1:] == (
        Message.assistant(ToolCall("c", "f", '{"a": 1.5}')),
        Message.tool(ToolResult.text("c", "[1]x")),
        Message.user("go on"),
    )


def test_cache_points_apply_to_the_preceding_block():
    (message,) = said({"text": "a"}, {"cachePoint": {"type": "default", "ttl": "1h"}}, {"text": "b"})
    assert message.parts == (TextPart("a", cache=CachePoint(3600)), TextPart("b"))


def test_cache_point_without_a_preceding_block_has_a_warning():
    parsed = CONVERSE.parse(
        request({"messages": [{"role": "user", "content": [{"cachePoint": {"type": "default"}}, {"text": "a"}]}]})
    )
    assert [(warning.code, warning.path) for warning in parsed.warnings] == [
        ("cache_left_out", "messages[0].content[0]")
    ]


def test_extra_fields_of_documents_calls_and_results_are_options():
    block = {"name": "a", "source": {"text": "hello"}, "citations": {"enabled": True}, "context": "c"}
    use = {"toolUseId": "c1", "name": "f", "input": {}, "caller": {"type": "direct"}}
    result = {"toolUseId": "c1", "content": [{"text": "x"}], "type": "t"}
    asked, called, answered = (
        said({"document": block}),
        said({"toolUse": use}, role="assistant"),
        {"toolResult": result},
    )
    assert asked[0].parts == (
        DocumentPart(
            Blob.from_bytes(b"hello", "text/plain"),
            provider_options={"bedrock": {"citations": {"enabled": True}, "context": "c"}},
        ),
    )
    assert called[0].tool_calls[0].provider_options == {"bedrock": {"caller": {"type": "direct"}}}
    messages = [{"role": "assistant", "content": [{"toolUse": use}]}, {"role": "user", "content": [answered]}]
    parsed = CONVERSE.parse(request({"messages": messages}))
    assert parsed.warnings == ()
    assert parsed.call.messages[1].parts == (
        ToolResult("c1", (TextPart("x"),), provider_options={"bedrock": {"type": "t"}}),
    )


def test_unknown_message_field_has_a_warning():
    parsed = CONVERSE.parse(request({"messages": [{"role": "user", "content": [{"text": "a"}], "name": "n"}]}))
    assert [warning.path for warning in parsed.warnings] == ["messages[0].name"]


def test_unknown_blocks_are_opaque_parts():
    found = {"source": "s", "title": "t", "content": [{"text": "x"}]}
    assert said({"searchResult": found})[0].parts == (
        OpaquePart("bedrock", "searchResult", {"source": "s", "title": "t", "content": ({"text": "x"},)}),
    )


def test_unknown_fields_are_provider_options():
    body = {
        **HELLO,
        "requestMetadata": {"a": "b"},
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 5, "display": "x"}},
        "outputConfig": {"effort": "max"},
        "inferenceConfig": {"maxTokens": 5, "new": 1},
    }
    call = CONVERSE.parse(request(body)).call
    assert (call.thinking, call.sampling.max_output_tokens) == (5, 5)
    assert call.provider_options["bedrock"] == {
        "requestMetadata": {"a": "b"},
        "additionalModelRequestFields": {"thinking": {"display": "x"}},
        "outputConfig": {"effort": "max"},
        "inferenceConfig": {"new": 1},
    }


PNG = {"format": "png", "source": {"bytes": "aGk="}}


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("hi", "messages[0].content"),
        (["hi"], "messages[0].content[0]"),
        ([{}], "messages[0].content[0]"),
        ([{"text": 5}], "messages[0].content[0].text"),
        ([{"image": {**PNG, "format": "tiff"}}], "messages[0].content[0].image.format"),
        ([{"image": {"format": "png"}}], "messages[0].content[0].image.source"),
        ([{"image": {"format": "png", "source": {}}}], "messages[0].content[0].image.source"),
        ([{"image": {"format": "png", "source": {"bytes": "!"}}}], "messages[0].content[0].image.source.bytes"),
        (
            [{"image": {"format": "png", "source": {"s3Location": {}}}}],
            "messages[0].content[0].image.source.s3Location.uri",
        ),
        ([{"toolResult": {"content": []}}], "messages[0].content[0].toolResult.toolUseId"),
        (
            [{"toolResult": {"toolUseId": "c", "content": [{"audio": PNG}]}}],
            "messages[0].content[0].toolResult.content[0]",
        ),
        ([{"cachePoint": 5}], "messages[0].content[0].cachePoint"),
    ],
)
def test_invalid_content_is_refused_with_its_path(content: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        CONVERSE.parse(request({"messages": [{"role": "user", "content": content}]}))
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": 5}, "messages"),
        ({"messages": [5]}, "messages[0]"),
        ({"messages": [{"role": "bard", "content": []}]}, "messages[0].role"),
        ({}, "messages"),
        ({**HELLO, "system": "hi"}, "system"),
        ({**HELLO, "toolConfig": {"tools": [{"toolSpec": {}}]}}, "toolConfig.tools[0].toolSpec.inputSchema"),
        (
            {**HELLO, "toolConfig": {"tools": [{"toolSpec": {"name": "", "inputSchema": {"json": {}}}}]}},
            "toolConfig.tools[0].toolSpec.name",
        ),
        ({**HELLO, "toolConfig": {"toolChoice": {}}}, "toolConfig.toolChoice"),
        ({**HELLO, "inferenceConfig": {"maxTokens": "5"}}, "inferenceConfig.maxTokens"),
        ({**HELLO, "inferenceConfig": {"topP": 2}}, "inferenceConfig.topP"),
        ({**HELLO, "inferenceConfig": {"stopSequences": [""]}}, "inferenceConfig.stopSequences"),
        (
            {**HELLO, "outputConfig": {"textFormat": {"structure": {"jsonSchema": {"schema": "{"}}}}},
            "outputConfig.textFormat.structure.jsonSchema.schema",
        ),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        CONVERSE.parse(request(body))
    assert caught.value.path == path


def test_result_without_call_and_duplicate_call_ids_are_refused():
    use = {"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}
    with pytest.raises(InvalidInputError, match="two tool calls have one id"):
        said(use, use, role="assistant", before=HELLO["messages"])
    with pytest.raises(InvalidInputError, match="has no such call"):
        said({"toolResult": {"toolUseId": "c", "content": []}}, before=HELLO["messages"])


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff"])
def test_body_that_is_not_an_object_is_refused(body: bytes):
    with pytest.raises(InvalidInputError):
        CONVERSE.parse(request(body))


# Replies


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"output": {"message": {}}}'])
def test_body_without_a_reply_is_a_server_error(body: bytes):
    with pytest.raises(ServerError):
        CONVERSE.decode(response(body))


def test_image_of_an_unknown_shape_is_kept():
    block = {"format": "avif", "source": {"bytes": "aGk="}}
    assert decoded_reply({"image": block}).parts == (OpaquePart("bedrock", "image", block),)
    assert decoded_reply({"image": PNG}).parts == (ImagePart(Blob.from_bytes(b"hi", "image/png")),)


def test_reply_with_invalid_required_fields_is_a_server_error():
    with pytest.raises(ServerError, match=r"content\[0\].toolUse.name"):
        decoded_reply({"toolUse": {"toolUseId": "t"}})


def test_additional_reply_fields_are_metadata():
    body = reply_with(
        {"text": "a"}, metrics={"latencyMs": 7}, trace={"x": 1}, p="padding", performanceConfig={"latency": "standard"}
    )
    assert CONVERSE.decode(response(body)).provider_metadata == {
        "metrics": {"latencyMs": 7},
        "trace": {"x": 1},
        "performanceConfig": {"latency": "standard"},
    }
