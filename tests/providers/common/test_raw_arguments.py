"""Arguments of calls in requests and responses: valid JSON, however the model wrote them."""

import json
from typing import Any

import pytest

from abstractcore import Message, ToolCall, ToolResult
from abstractcore.schema import ModelCall, ModelReply, Usage, WireResponse
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.published import provider_of

TEXTS = ['{"a":"x\ny"}', '{}{"a":"x\\ny"}', '{"a":"x\\ny"}{"a":"x\\ny"}', "null", " ", '{"a":"x\\ny"}\n']


def objects(value: Any, key: str = "") -> Any:
    """All objects in JSON data, and the arguments that are a text."""
    if isinstance(value, dict):
        yield value
        for name, item in value.items():
            yield from objects(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)
    elif key == "arguments":
        yield ToolCall("c", "f", value).arguments


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", TEXTS)
def test_arguments_with_mistakes_are_sent_as_valid_json(format, text):
    transpiler, call = FORMATS[format](), ToolCall("call_1", "f", text)
    turns = (Message.user("hi"), Message.assistant(call), Message.tool(ToolResult.text("call_1", "done")))
    body = transpiler.encode(ModelCall("m", turns, provider=provider_of(format))).request.body
    expected = {"a": "x\ny"} if "a" in text else {}
    assert expected in objects(json.loads(body))
    rendered = transpiler.render(ModelReply((call,), "tool_calls", usage=Usage(1, 1), model="m", provider="p")).body
    read = transpiler.decode(WireResponse(200, {}, rendered)).tool_calls[0]
    assert read.arguments == expected
