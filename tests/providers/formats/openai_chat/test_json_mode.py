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


def test_the_schema_reaches_the_model_in_a_system_message_and_a_warning_says_so():
    encoded = DEEPSEEK.encode(asked())
    body = json.loads(encoded.request.body)
    assert body["response_format"] == {"type": "json_object"}
    told, question = body["messages"]
    assert told["role"] == "system"
    assert json.loads(told["content"].partition("\n")[2]) == {
        "name": "answer",
        "schema": SCHEMA,
        "description": "How many.",
    }
    assert "JSON" in told["content"]
    assert question == {"role": "user", "content": "hi"}
    (warning,) = encoded.warnings
    assert (warning.code, warning.path) == ("schema_as_instruction", "output.strict")
    assert (warning.requested, warning.sent) == (True, False)
    assert "messages[0]" in warning.message


def test_the_message_stands_behind_the_system_messages_that_come_first():
    call = asked(Message.system("Be brief."), Message.user("hi"), Message.system("Now."), Message.user("ho"))
    roles = [(m["role"], "JSON Schema" in m["content"]) for m in body_of(call)["messages"]]
    assert roles == [("system", False), ("system", True), ("user", False), ("system", False), ("user", False)]


def test_our_server_side_knows_it_again():
    call = asked(Message.system("Be brief."), Message.user("hi"))
    encoded = DEEPSEEK.encode(call)
    read = DEEPSEEK.parse(encoded.request).call
    assert read == call.with_(output=OutputSchema("answer", SCHEMA, "How many.", strict=False))
    again = DEEPSEEK.encode(read)
    assert (again.request, again.warnings) == (encoded.request, ())


@pytest.mark.parametrize("content", ["Answer in JSON.", "", None])
def test_json_mode_that_a_client_asks_for_by_itself_is_an_option(content: Any):
    messages = [{"role": "system", "content": content}, {"role": "user", "content": "hi"}]
    body = {"model": "m", "messages": messages, "response_format": {"type": "json_object"}}
    call = DEEPSEEK.parse(request(body)).call
    assert call.output is None
    assert call.provider_options == {"deepseek": {"response_format": {"type": "json_object"}}}


@pytest.mark.parametrize("rest", ["", "no", "[]", "{}", '{"name":"a"}', '{"name":5,"schema":{}}', '{"schema":{}}'])
def test_a_message_that_only_begins_like_ours_stays_a_message(rest: str):
    beginning = body_of(asked())["messages"][0]["content"].partition("\n")[0]
    messages = [{"role": "system", "content": f"{beginning}\n{rest}"}, {"role": "user", "content": "hi"}]
    call = DEEPSEEK.parse(
        request({"model": "m", "messages": messages, "response_format": {"type": "json_object"}})
    ).call
    assert call.output is None
    assert len(call.messages) == 2


def test_a_response_format_of_ones_own_beside_a_schema_is_refused():
    with pytest.raises(InvalidInputError, match="has a field of its own"):
        DEEPSEEK.encode(asked(provider_options={"deepseek": {"response_format": {"type": "text"}}}))
