"""Models that refuse a tool result beside anything else, or its status, decided by their rows of the catalogue."""

import json
from typing import Any

import pytest

from abstractcore import create_llm
from abstractcore.schema import Message, ModelCall, TextPart, ToolCall, ToolResult
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore_providers.formats.bedrock_converse import BedrockConverse, ConverseDialect
from tests.providers.strict_fakes.bedrock_converse import refusal

ALONE = ("mistral.pixtral-large-2502-v1:0", "us.meta.llama4-scout-17b-instruct-v1:0", "mistral.pixtral-huge-2601-v1:0")
WRITER = ("writer.palmyra-x5-v1:0", "us.writer.palmyra-x9-v1:0")
OTHERS = ("us.amazon.nova-2-lite-v1:0", "anthropic.claude-opus-5-5", "qwen.qwen3-32b")
CALLED = Message("assistant", (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}")))
FAILED = Message("tool", (ToolResult.text("c1", "1"), ToolResult("c2", (TextPart("it broke"),), is_error=True)))
MESSAGES = (Message.user("hi"), CALLED, FAILED, Message.user("go on"), Message.user("now"))
SEPARATOR = {"role": "assistant", "content": [{"text": "."}]}
STRICT = BedrockConverse(dialect=ConverseDialect(results_alone=True, result_status=False))


def connected(model: str) -> Any:
    return create_llm("bedrock", model=model, region="us-east-1", api_key="k")


def sent(model: str) -> tuple[Any, set[str]]:
    """The body for the conversation, and the paths of the warnings of its messages."""
    llm = connected(model)
    encoded = llm._pipelines.session.transpiler.encode(ModelCall(model, MESSAGES, "bedrock"))
    paths = {warning.path for warning in encoded.warnings}
    return json.loads(encoded.request.body), {path for path in paths if path.startswith("messages")}


def results_of(message: Any) -> list[Any]:
    return [block["toolResult"] for block in message["content"] if "toolResult" in block]


@pytest.mark.parametrize("model", [*ALONE, *WRITER])
def test_tool_results_are_alone_in_their_message(model: str):
    body, _ = sent(model)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert all("toolResult" in block for block in body["messages"][2]["content"])
    assert body["messages"][3] == SEPARATOR
    assert body["messages"][4]["content"] == [{"text": "go on"}, {"text": "now"}]


@pytest.mark.parametrize("model", OTHERS)
def test_other_models_get_them_in_one_message(model: str):
    body, _ = sent(model)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("model", [*ALONE, *WRITER, *OTHERS])
def test_status_is_sent_unless_the_model_refuses_it(model: str):
    body, warned = sent(model)
    has_status = model not in WRITER
    assert ["status" in result for result in results_of(body["messages"][2])] == [False, has_status]
    assert warned == (set() if has_status else {"messages[2].parts[1].is_error"})


@pytest.mark.parametrize("messages", [MESSAGES, MESSAGES[:3], (*MESSAGES, Message.assistant("ok"), Message.user("so"))])
def test_separator_is_not_read_as_a_message(messages: tuple[Message, ...]):
    call = ModelCall("writer.palmyra-x5-v1:0", messages, "bedrock")
    check_call_losses(STRICT, call)
    check_encode_again(STRICT, call)


def test_strict_fake_refuses_what_these_models_refuse():
    call = ModelCall("m", MESSAGES, "bedrock")
    path = BedrockConverse().encode(call).request.url
    tools = {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}}
    usual = json.loads(BedrockConverse().encode(call).request.body) | tools
    strict = json.loads(STRICT.encode(call).request.body) | tools
    settings = {"results_alone": True, "result_status": False}
    assert "toolResult" in (refusal({"settings": {"results_alone": True}}, path, usual) or "")
    assert "status" in (refusal({"settings": {"result_status": False}}, path, usual) or "")
    assert refusal({}, path, usual) is None
    assert refusal({"settings": settings}, path, strict) is None
