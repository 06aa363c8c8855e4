"""Parsing requests of clients: fields, warnings, refusals with their path."""

from typing import Any

import pytest

from abstractcore.errors import InvalidInputError
from abstractcore.schema import TextPart, ToolCall, ToolResult
from tests.providers.formats.ollama.wire import OLLAMA, called, request


def parsed(*messages: Any, **fields: Any) -> Any:
    return OLLAMA.parse(request({"model": "m", "messages": messages or [{"role": "user", "content": "hi"}], **fields}))


def calling(*names: str, **fields: Any) -> dict[str, Any]:
    calls = [{"function": {"name": name, "arguments": {}}, **fields} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(name: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_name": name, "content": content, **fields}


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", ""),
        ([], ""),
        ({"messages": [USER]}, "model"),
        ({"model": "m", "messages": 5}, "messages"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": [5]}, "messages[0]"),
        ({"model": "m", "messages": [{"role": "bard", "content": "a"}]}, "messages[0].role"),
        ({"model": "m", "messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"model": "m", "messages": [{**USER, "images": ["%"]}]}, "messages[0].images[0]"),
        ({"model": "m", "messages": [{**USER, "images": [5]}]}, "messages[0].images[0]"),
        ({"model": "m", "messages": [USER, result("f", "x")]}, "messages[1].tool_name"),
        ({"model": "m", "messages": [USER, calling("f"), result("g", "x")]}, "messages[2].tool_name"),
        (
            {"model": "m", "messages": [calling("f"), result("f", "x"), result("f", "y")]},
            "messages[2].tool_name",
        ),
        ({"model": "m", "messages": [calling("f"), result("f", "x", tool_call_id="z")]}, "messages[1].tool_call_id"),
        ({"model": "m", "messages": [calling("f", "g", id="c")]}, "messages[0].tool_calls[1].id"),
        (
            {
                "model": "m",
                "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x"}}]}],
            },
            "messages[0].tool_calls[0].function.arguments",
        ),
        ({"model": "m", "messages": [USER], "tools": [{"function": {}}]}, "tools[0].function.name"),
        ({"model": "m", "messages": [USER], "options": {"temperature": -1}}, "options.temperature"),
        ({"model": "m", "messages": [USER], "options": {"num_predict": "x"}}, "options.num_predict"),
        ({"model": "m", "messages": [USER], "options": {"stop": [5]}}, "options.stop[0]"),
        ({"model": "m", "messages": [USER], "options": 5}, "options"),
        ({"model": "m", "messages": [USER], "stream": "yes"}, "stream"),
    ],
)
def test_invalid_request_is_refused_with_its_path(body: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        OLLAMA.parse(request(body))
    assert caught.value.path == path


def test_results_without_ids_match_calls_by_name_in_order():
    messages = parsed(USER, calling("f", "g", "f"), result("f", "1"), result("f", "2"), result("g", "3")).call.messages
    assert messages[1].tool_calls == tuple(ToolCall(f"call_1_{i}", name) for i, name in enumerate("fgf"))
    assert messages[2].parts == tuple(ToolResult.text(f"call_1_{i}", text) for i, text in enumerate("132"))


def test_results_with_ids_match_their_calls():
    calls = {"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "f"}} for id in ("a", "b")]}
    messages = parsed(calls, result("f", "x", tool_call_id="b")).call.messages
    assert messages[1].parts == (ToolResult.text("b", "x"),)


def test_empty_message_is_left_out():
    read = parsed({"role": "user", "content": ""}, USER)
    assert [warning.path for warning in read.warnings] == ["messages[0]"]
    assert read.call.messages[0].parts == (TextPart("hi"),)


def test_unknown_fields_become_provider_options():
    asked = {"role": "assistant", "tool_calls": [called("f", {}, id="c", odd=1)], "mood": "calm"}
    result = {"role": "tool", "tool_call_id": "c", "content": "a", "cost": 2}
    read = parsed({**USER, "name": "Ann"}, asked, result)
    said, answer, given = read.call.messages
    assert read.warnings == ()
    assert [said.provider_options, answer.provider_options] == [
        {"ollama": {"name": "Ann"}},
        {"ollama": {"mood": "calm"}},
    ]
    assert answer.tool_calls[0].provider_options == {"ollama": {"odd": 1}}
    assert given.parts == (ToolResult("c", (TextPart("a"),), provider_options={"ollama": {"cost": 2}}),)


def test_arguments_keep_their_original_text():
    body = b'{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"function":'
    body += b'{"name":"f","arguments":{"x": 1.10,  "a":{}}}}]},{"role":"tool","content":"b"}]}'
    assert OLLAMA.parse(request(body)).call.messages[1].tool_calls[0].arguments_text == '{"x": 1.10,  "a":{}}'


@pytest.mark.parametrize(
    ("think", "thinking"), [(True, "medium"), (False, "off"), ("low", "low"), ("max", "max"), ("xhigh", None)]
)
def test_thinking_is_read_and_unknown_levels_kept(think: Any, thinking: Any):
    call = parsed(think=think).call
    assert call.thinking == thinking
    assert call.provider_options == ({} if thinking else {"ollama": {"think": "xhigh"}})


def test_stream_defaults_to_true():
    assert parsed().call.stream is True
    assert parsed(stream=False).call.stream is False


def test_unknown_options_and_json_mode_are_kept():
    call = parsed(format="json", keep_alive=0, options={"num_ctx": 4096, "num_predict": -1, "mirostat": None}).call
    kept = {"format": "json", "keep_alive": 0, "options": {"num_ctx": 4096, "num_predict": -1}}
    assert call.provider_options == {"ollama": kept}


def test_default_num_ctx_is_not_an_option():
    long = {"role": "user", "content": "x" * 9000}
    assert parsed(long, options={"num_ctx": 8192}).call.provider_options == {}
    assert parsed(long, options={"num_ctx": 4096}).call.provider_options == {"ollama": {"options": {"num_ctx": 4096}}}


def test_top_logprobs_without_logprobs_has_a_warning():
    read = parsed(top_logprobs=3)
    assert read.call.sampling.top_logprobs is None
    assert [warning.path for warning in read.warnings] == ["top_logprobs"]
    assert parsed(logprobs=True).call.sampling.top_logprobs == 0
