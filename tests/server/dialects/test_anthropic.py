"""`/v1/messages`, with the anthropic package as the client."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import anthropic
import pytest

from abstractcore import OverloadedError, Usage
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served

ASK: list[anthropic.types.MessageParam] = [{"role": "user", "content": "hi"}]


@pytest.fixture
def client(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        yield client


def test_answer_is_a_message(served: Served, client: anthropic.Anthropic):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    message = client.messages.create(model="scripted", max_tokens=100, system="Speak French.", messages=ASK)
    assert [block.text for block in message.content if block.type == "text"] == ["Bonjour."]
    assert message.stop_reason == "end_turn"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (7, 3)
    assert message.id.startswith("msg_")
    assert [each.text for each in served.call.messages] == ["Speak French.", "hi"]
    assert served.call.sampling.max_output_tokens == 100


def test_stream_has_the_text(served: Served, client: anthropic.Anthropic):
    served.script(ScriptedReply.chunks(["Bon", "jour"]))
    with client.messages.stream(model="scripted", max_tokens=100, messages=ASK) as stream:
        assert list(stream.text_stream) == ["Bon", "jour"]
        assert stream.get_final_message().stop_reason == "end_turn"


def test_tool_call_and_its_result(served: Served, client: anthropic.Anthropic):
    served.script(ScriptedReply.tool_call("weather", {"city": "Ulm"}), "Sunny.")
    tools: list[anthropic.types.ToolParam] = [
        {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}
    ]
    first = client.messages.create(model="scripted", max_tokens=100, messages=ASK, tools=tools)
    (call,) = [block for block in first.content if block.type == "tool_use"]
    assert (call.name, call.input) == ("weather", {"city": "Ulm"})
    result: anthropic.types.ToolResultBlockParam = {"type": "tool_result", "tool_use_id": call.id, "content": "20 C"}
    client.messages.create(
        model="scripted",
        max_tokens=100,
        tools=tools,
        messages=[*ASK, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}],
    )
    assert served.calls[1].messages[-1].role == "tool"


def test_count_of_tokens_is_an_estimate_where_the_provider_has_none(served: Served, client: anthropic.Anthropic):
    counted = client.messages.with_raw_response.count_tokens(
        model="scripted", messages=[{"role": "user", "content": "12345678"}]
    )
    assert counted.headers["x-abstractcore-estimate"] == "true"
    assert counted.parse().input_tokens == 10


def test_models_are_listed_in_pages(client: anthropic.Anthropic):
    listed = islice(client.models.list(limit=1), 2)
    assert [each.id for each in listed] == ["scripted", "default"]
    assert client.models.retrieve("scripted").id == "scripted"


def test_overload_is_the_clients_own_exception(served: Served, client: anthropic.Anthropic):
    served.script(OverloadedError("busy", retry_after=3))
    with pytest.raises(anthropic.APIStatusError) as caught:
        client.messages.create(model="scripted", max_tokens=100, messages=ASK)
    assert caught.value.status_code == 529
    assert caught.value.request_id is not None


def test_betas_in_the_body_are_refused(client: anthropic.Anthropic):
    with pytest.raises(anthropic.BadRequestError, match="anthropic-beta"):
        client.messages.create(model="scripted", max_tokens=9, messages=ASK, extra_body={"betas": ["x"]})


def test_unknown_model_has_the_nearest_names(client: anthropic.Anthropic):
    with pytest.raises(anthropic.NotFoundError, match="Did you mean scripted"):
        client.messages.create(model="x/scripted", max_tokens=9, messages=ASK)
