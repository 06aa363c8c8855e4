"""Calls of custom tools, whose input is any text: read, streamed, sent back, and answered."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageCustomToolCall

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, ModelReply, Part, ToolCall, ToolChoice, ToolResult, ToolSpec, deltas_of
from tests.providers.formats.openai_chat.wire import (
    CHAT,
    body_of,
    call,
    called,
    chunk,
    fragment,
    rendered_chunks,
    request,
    response,
    streamed,
)
from tests.providers.serving import FormatServer, serving

TEXT = 'print("ü")\n'
CUSTOM: Any = {"id": "c1", "type": "custom", "custom": {"name": "code", "input": TEXT}}
CALL = ToolCall("c1", "code", TEXT, provider_options={"openai": {"type": "custom"}})
FUNCTION = ToolCall("c2", "f", "{}")
OFFERED: Any = {"type": "custom", "custom": {"name": "code", "format": {"type": "text"}}}
CHOSEN: Any = {"type": "custom", "custom": {"name": "code"}}


def read(*calls: Any) -> tuple[Part, ...]:
    message = {"role": "assistant", "content": None, "tool_calls": list(calls)}
    return CHAT.decode(response({"choices": [{"message": message, "finish_reason": "tool_calls"}]})).parts


def custom(text: str = "", **fields: Any) -> dict[str, Any]:
    """A fragment of a call; `name` belongs to its tool."""
    name = {"name": fields.pop("name")} if "name" in fields else {}
    return {**fields, "custom": {**name, "input": text}}


def test_call_has_the_name_of_its_tool_and_its_input():
    (found,) = read(CUSTOM)
    assert found == CALL
    assert isinstance(found, ToolCall)
    assert found.arguments is None


def test_streamed_call_is_the_same():
    first = custom(index=0, id="c1", type="custom", name="code")
    pieces = [custom(TEXT[:3], index=0), custom(TEXT[3:], index=0)]
    other = fragment("{}", index=1, id="c2", type="function", name="f")
    reply = streamed(called(first), *map(called, pieces), called(other), chunk("tool_calls"))
    assert reply.parts == (CALL, FUNCTION)
    assert reply.finish_reason == "tool_calls"


def test_interleaved_calls_of_both_kinds_are_separated():
    first = custom("a", index=0, id="c1", type="custom", name="code")
    other = fragment("{", index=1, id="c2", name="f")
    rest = called(custom("b", index=0), fragment("}", index=1))
    reply = streamed(called(first, other), rest, chunk("tool_calls"))
    assert [(part.id, part.name, part.arguments_text) for part in reply.tool_calls] == [
        ("c1", "code", "ab"),
        ("c2", "f", "{}"),
    ]


def test_call_and_its_result_are_sent_back():
    parts = (CALL, FUNCTION)
    results = Message("tool", (ToolResult.text("c1", "ok"), ToolResult.text("c2", "1")))
    body = body_of(call(Message.user("hi"), Message("assistant", parts), results))
    written = body["messages"][1]["tool_calls"]
    assert written[0] == CUSTOM
    assert written[1]["function"] == {"name": "f", "arguments": "{}"}
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    again = CHAT.parse(request(body))
    assert again.warnings == ()
    assert again.call.messages[1].parts == parts


def test_call_goes_to_another_provider_as_that_of_a_function():
    foreign = ToolCall("c1", "code", "{}", provider_options={"another": {"type": "custom"}})
    answered = (Message("assistant", (foreign,)), Message.tool(ToolResult.text("c1", "ok")))
    body = body_of(call(Message.user("hi"), *answered))
    assert body["messages"][1]["tool_calls"][0]["type"] == "function"


def test_further_fields_of_a_call_survive():
    call = {**CUSTOM, "x": 1}
    (found,) = read(call)
    rendered = json.loads(CHAT.render(ModelReply((found,))).body)
    assert rendered["choices"][0]["message"]["tool_calls"] == [call]


def test_call_is_rendered_and_streamed_to_clients():
    reply = ModelReply((CALL, FUNCTION), "tool_calls", model="m")
    rendered = CHAT.render(reply)
    assert rendered.warnings == ()
    assert json.loads(rendered.body)["choices"][0]["message"]["tool_calls"][0] == CUSTOM
    chunks = [chunk["choices"][0]["delta"] for chunk in rendered_chunks(list(deltas_of(reply))) if chunk["choices"]]
    assert chunks[1]["tool_calls"] == [
        {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "code", "input": ""}}
    ]
    assert chunks[2]["tool_calls"] == [{"index": 0, "custom": {"input": TEXT}}]


def test_custom_tools_are_offered_beside_functions():
    body = body_of(call(tools=(ToolSpec("f", "F.", {}),), provider_options={"openai": {"tools": [OFFERED]}}))
    assert [tool["type"] for tool in body["tools"]] == ["function", "custom"]
    again = CHAT.parse(request(body)).call
    assert [tool.name for tool in again.tools] == ["f"]
    assert again.provider_options == {"openai": {"tools": [OFFERED]}}


def test_custom_tool_can_be_forced():
    options = {"tools": [OFFERED], "tool_choice": CHOSEN}
    body = body_of(call(provider_options={"openai": options}))
    assert body["tool_choice"] == CHOSEN
    again = CHAT.parse(request(body)).call
    assert (again.tool_choice, again.provider_options) == (None, {"openai": options})


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"provider_options": {"openai": {"tools": [{"type": "function", "function": {"name": "f"}}]}}}, "tools"),
        ({"provider_options": {"openai": {"tools": []}}}, "tools"),
        ({"provider_options": {"openai": {"tool_choice": "auto"}}}, "tool_choice"),
        ({"provider_options": {"openai": {"tool_choice": CHOSEN}}, "tool_choice": ToolChoice("auto")}, "tool_choice"),
    ],
)
def test_option_that_the_call_has_a_field_for_is_refused(fields: dict[str, Any], name: str):
    with pytest.raises(InvalidInputError) as info:
        CHAT.encode(call(**fields))
    assert info.value.path == f"provider_options.openai.{name}"


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ({"type": "custom", "id": "c1"}, "custom"),
        ({"type": "custom", "id": "c1", "custom": {"input": ""}}, "custom.name"),
        ({"type": "custom", "id": "c1", "custom": {"name": "code"}}, "custom.input"),
        ({"type": "custom", "custom": {"name": "code", "input": ""}}, "id"),
    ],
)
def test_incomplete_call_of_a_client_is_refused_with_its_path(sent: Any, path: str):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [sent]}]
    with pytest.raises(InvalidInputError) as info:
        CHAT.parse(request({"model": "m", "messages": messages}))
    assert info.value.path == f"messages[1].tool_calls[0].{path}"


@pytest.fixture
def server() -> Iterator[FormatServer]:
    with serving(CHAT, "text/event-stream", ModelReply((CALL,), "tool_calls", model="m", id="r1")) as server:
        yield server


def test_client_of_the_vendor_reads_our_reply_and_sends_it_back(server: FormatServer):
    http = openai.DefaultHttpxClient(trust_env=False)
    hello: Any = {"role": "user", "content": "hi"}
    with OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, http_client=http) as client:
        completion = client.chat.completions.create(model="m", messages=[hello], tools=[OFFERED], tool_choice=CHOSEN)
        message = completion.choices[0].message
        (found,) = message.tool_calls or []
        assert isinstance(found, ChatCompletionMessageCustomToolCall)
        assert (found.id, found.custom.name, found.custom.input) == ("c1", "code", TEXT)
        answer: Any = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
        client.chat.completions.create(model="m", messages=[hello, message.to_dict(), answer])  # pyright: ignore[reportArgumentType]
    assert server.calls[-1].messages[1].parts == (CALL,)
    assert server.calls[0].provider_options == {"openai": {"tools": [OFFERED], "tool_choice": CHOSEN}}
