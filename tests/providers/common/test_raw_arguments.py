"""Arguments of calls in requests and responses: valid JSON, however the model wrote them."""

import json
from typing import Any

import pytest

from abstractcore import Message, ToolCall, ToolResult
from abstractcore.schema import ModelCall, ModelReply, Usage, WireResponse
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.published import provider_of

TEXTS = ['{"a":"x\ny"}', '{}{"a":"x\\ny"}', '{"a":"x\\ny"}{"a":"x\\ny"}', "null", " ", '{"a":"x\\ny"}\n']


TEXTUAL = ("cohere_chat", "openai_chat", "openai_responses")
"""Formats whose arguments are a text, which may be empty."""


def objects(value: Any, key: str = "") -> Any:
    """All objects in JSON data, and the arguments that are a text."""
    if isinstance(value, dict):
        yield value
        for name, item in value.items():
            yield from objects(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)
    elif key == "arguments" and value.strip():
        yield json.loads(value)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", TEXTS)
def test_arguments_with_mistakes_are_sent_as_valid_json(format, text):
    transpiler, call = FORMATS[format](), ToolCall("call_1", "f", text)
    turns = (Message.user("hi"), Message.assistant(call), Message.tool(ToolResult.text("call_1", "done")))
    encoded = transpiler.encode(ModelCall("m", turns, provider=provider_of(format)))
    body = encoded.request.body
    expected = {"a": "x\ny"} if "a" in text else {}
    if text.strip() or format not in TEXTUAL:
        assert expected in objects(json.loads(body))
    rewritten = [warning.path for warning in encoded.warnings if warning.code.startswith("arguments_")]
    is_valid = format in TEXTUAL and text in (TEXTS[-2], TEXTS[-1])
    assert rewritten == ([] if is_valid else ["messages[1].parts[0].arguments_text"])
    rendered = transpiler.render(ModelReply((call,), "tool_calls", usage=Usage(1, 1), model="m", provider="p")).body
    read = transpiler.decode(WireResponse(200, {}, rendered)).tool_calls[0]
    assert read.arguments == expected


@pytest.mark.parametrize("format", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize("text", ["null", '{}{"a":1}', '{"a":"x\ny"}'])
def test_free_text_of_a_custom_tool_is_sent_as_written(format, text):
    transpiler, provider = FORMATS[format](), provider_of(format)
    kind = {"openai_chat": "custom", "openai_responses": "custom_tool_call"}[format]
    call = ToolCall("call_1", "f", text, provider_options={provider: {"type": kind}})
    turns = (Message.user("hi"), Message.assistant(call), Message.tool(ToolResult.text("call_1", "done")))
    encoded = transpiler.encode(ModelCall("m", turns, provider=provider))
    assert json.dumps(text).encode() in encoded.request.body
    assert encoded.warnings == ()
