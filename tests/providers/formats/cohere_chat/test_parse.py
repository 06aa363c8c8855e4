"""Parsing requests of clients: fields, warnings, refusals with their path."""

import json
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Citation, DocumentPart, Message, ReasoningPart, TextPart, ToolCall
from tests.providers.formats.cohere_chat.wire import COHERE, request

USER = {"role": "user", "content": "hi"}


def parsed(*messages: Any, **fields: Any) -> Any:
    return COHERE.parse(request({"model": "m", "messages": messages or [USER], **fields}))


def called(id: Any = "c", **function: Any) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}", **function}}]
    return {"role": "assistant", "tool_calls": calls}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", ""),
        ([], ""),
        ({"messages": [USER]}, "model"),
        ({"model": "m", "messages": 5}, "messages"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": [{"role": "bard", "content": "a"}]}, "messages[0].role"),
        ({"model": "m", "messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"model": "m", "messages": [{"role": "user", "content": [{"type": "x"}]}]}, "messages[0].content[0].type"),
        (
            {
                "model": "m",
                "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ""}}]}],
            },
            "messages[0].content[0].image_url.url",
        ),
        ({"model": "m", "messages": [{"role": "tool", "tool_call_id": "z", "content": "x"}]}, "messages[0]"),
        ({"model": "m", "messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id"),
        ({"model": "m", "messages": [called(None)]}, "messages[0].tool_calls[0].id"),
        ({"model": "m", "messages": [called(arguments={})]}, "messages[0].tool_calls[0].function.arguments"),
        ({"model": "m", "messages": [USER], "tools": [{"function": {}}]}, "tools[0].function.name"),
        ({"model": "m", "messages": [USER], "tool_choice": "auto"}, "tool_choice"),
        ({"model": "m", "messages": [USER], "p": 2}, "p"),
        ({"model": "m", "messages": [USER], "stop_sequences": [5]}, "stop_sequences[0]"),
        ({"model": "m", "messages": [USER], "stream": "yes"}, "stream"),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        COHERE.parse(request(body))
    assert caught.value.path == path


def test_duplicate_call_ids_are_refused():
    twice = {"role": "assistant", "tool_calls": called()["tool_calls"] * 2}
    with pytest.raises(InvalidInputError, match="one id"):
        parsed(twice)


def test_blocks_plan_calls_and_citations_are_read():
    source = {"type": "document", "id": "d"}
    said = called() | {
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "abc"}],
        "tool_plan": "So.",
        "citations": [
            {"start": 1, "end": 2, "sources": [source], "content_index": 1},
            {"start": 0, "end": 1, "sources": [source], "type": "PLAN"},
        ],
    }
    (message,) = parsed(said).call.messages
    citations = (Citation("d", start=1, end=2), Citation("d", start=3, end=4))
    assert message == Message.assistant(
        ReasoningPart("Hm.", origin="cohere/m"), TextPart("abcSo.", citations), ToolCall("c", "f", "{}")
    )


def test_document_in_a_tool_result_is_read_as_json():
    document = {"id": "d", "data": {"a": 1}}
    content = [{"type": "text", "text": "x"}, {"type": "document", "document": document}]
    messages = parsed(called(), {"role": "tool", "tool_call_id": "c", "content": content}).call.messages
    (result,) = messages[1].parts
    assert [part.type for part in result.content] == ["text", "document"]
    assert isinstance(result.content[1], DocumentPart)
    assert result.content[1].blob.read() == b'{"id":"d","data":{"a":1}}'


def test_empty_message_is_left_out_with_a_warning():
    assert [warning.path for warning in parsed({"role": "user", "content": ""}, USER).warnings] == ["messages[0]"]


def test_unknown_fields_become_provider_options():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA==", "new": 1}, "a": 1}
    user = {"role": "user", "content": [{"type": "text", "text": "x", "b": 2, "c": None}, image], "name": "Ann"}
    said = called()
    said["tool_calls"][0]["d"] = {"e": []}
    result = {"role": "tool", "tool_call_id": "c", "content": "x", "f": "g"}
    read = parsed(user, said, result)
    first, second, third = read.call.messages
    assert first.provider_options == {"cohere": {"name": "Ann"}}
    assert [part.provider_options for part in first.parts] == [{"cohere": {"b": 2}}, {"cohere": {"a": 1}}]
    assert second.parts[0].provider_options == {"cohere": {"d": {"e": []}}}
    assert third.parts[0].provider_options == {"cohere": {"f": "g"}}
    assert [warning.path for warning in read.warnings] == ["messages[0].content[1].image_url.new"]
    body = json.loads(COHERE.encode(read.call).request.body)
    del image["image_url"]["new"], user["content"][0]["c"]
    assert body["messages"] == [user, said, result]


@pytest.mark.parametrize(
    ("thinking", "ours"),
    [
        ({"type": "enabled"}, "medium"),
        ({"type": "disabled"}, "off"),
        ({"type": "enabled", "token_budget": 7}, 7),
        ({"type": "enabled", "token_budget": -1}, None),
        ({"type": "new"}, None),
    ],
)
def test_thinking_is_read_and_unknown_fields_kept(thinking: Any, ours: Any):
    call = parsed(thinking=thinking).call
    assert call.thinking == ours
    assert call.provider_options == ({} if ours else {"cohere": {"thinking": thinking}})


def test_unknown_options_and_json_mode_are_kept():
    kept = {"safety_mode": "OFF", "response_format": {"type": "json_object"}, "priority": 1}
    assert parsed(**kept, k=None).call.provider_options == {"cohere": kept}
    assert parsed(logprobs=True).call.sampling.top_logprobs == 0
