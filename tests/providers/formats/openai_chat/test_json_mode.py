"""Schemas of answers at vendors that have JSON mode only."""

import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.formats.openai_chat.wire import request

(DEEPSEEK,) = [OpenAIChat(preset.dialect) for preset in VENDORS if preset.name == "deepseek"]
SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
OUTPUT = OutputSchema("answer", SCHEMA, "How many.")


def asked(*messages: Message, **fields: Any) -> ModelCall:
    return ModelCall("m", messages or (Message.user("hi"),), "deepseek", output=OUTPUT, **fields)


def body_of(call: ModelCall) -> Any:
    return json.loads(DEEPSEEK.encode(call).request.body)


def test_schema_is_sent_as_a_system_message_with_a_warning():
    encoded = DEEPSEEK.encode(asked())
    body = json.loads(encoded.request.body)
    assert body["response_format"] == {"type": "json_object"}
    instruction, question = body["messages"]
    assert instruction["role"] == "system"
    assert json.loads(instruction["content"].partition("\n")[2]) == {
        "name": "answer",
        "schema": SCHEMA,
        "description": "How many.",
    }
    assert "JSON" in instruction["content"]
    assert question == {"role": "user", "content": "hi"}
    (warning,) = encoded.warnings
    assert (warning.code, warning.path) == ("schema_as_instruction", "output.strict")
    assert (warning.requested, warning.sent) == (True, False)
    assert "messages[0]" in warning.message


def test_schema_message_follows_the_leading_system_messages():
    call = asked(Message.system("Be brief."), Message.user("hi"), Message.system("Now."), Message.user("ho"))
    roles = [(m["role"], "JSON Schema" in m["content"]) for m in body_of(call)["messages"]]
    assert roles == [("system", False), ("system", True), ("user", False), ("system", False), ("user", False)]


def test_server_side_recognises_the_schema_message():
    call = asked(Message.system("Be brief."), Message.user("hi"))
    encoded = DEEPSEEK.encode(call)
    read = DEEPSEEK.parse(encoded.request).call
    assert read == call.with_(output=OutputSchema("answer", SCHEMA, "How many.", strict=False))
    again = DEEPSEEK.encode(read)
    assert (again.request, again.warnings) == (encoded.request, ())


@pytest.mark.parametrize("content", ["Answer in JSON.", "", None])
def test_json_mode_of_a_client_is_a_provider_option(content: Any):
    messages = [{"role": "system", "content": content}, {"role": "user", "content": "hi"}]
    body = {"model": "m", "messages": messages, "response_format": {"type": "json_object"}}
    call = DEEPSEEK.parse(request(body)).call
    assert call.output is None
    assert call.provider_options == {"deepseek": {"response_format": {"type": "json_object"}}}


@pytest.mark.parametrize("rest", ["", "no", "[]", "{}", '{"name":"a"}', '{"name":5,"schema":{}}', '{"schema":{}}'])
def test_message_that_only_begins_like_the_schema_message_is_kept(rest: str):
    beginning = body_of(asked())["messages"][0]["content"].partition("\n")[0]
    messages = [{"role": "system", "content": f"{beginning}\n{rest}"}, {"role": "user", "content": "hi"}]
    call = DEEPSEEK.parse(
        request({"model": "m", "messages": messages, "response_format": {"type": "json_object"}})
    ).call
    assert call.output is None
    assert len(call.messages) == 2


def test_response_format_option_with_a_schema_is_refused():
    with pytest.raises(InvalidInputError, match="has a field for this"):
        DEEPSEEK.encode(asked(provider_options={"deepseek": {"response_format": {"type": "text"}}}))
