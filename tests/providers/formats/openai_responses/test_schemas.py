"""Our requests and responses match the vendor's schema and the types of its client."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.input_token_count_params import InputTokenCountParams
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from openai.types.responses.response_input_audio_param import ResponseInputAudioParam
from pydantic import TypeAdapter, ValidationError

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    Delta,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    Sampling,
    TextPart,
    ToolResult,
    Usage,
    deltas_of,
)
from abstractcore.testing import strategies
from tests.properties import examples
from tests.providers.formats.openai_responses import generated
from tests.providers.formats.openai_responses.wire import (
    HERE,
    RESPONSES,
    body_of,
    call,
    faults,
    rendered_events,
    response,
)

PLAIN: Any = TypeAdapter(ResponseCreateParamsNonStreaming)
STREAMING: Any = TypeAdapter(ResponseCreateParamsStreaming)
COUNT: Any = TypeAdapter(InputTokenCountParams)
EVENT: Any = TypeAdapter(ResponseStreamEvent)


def consume(value: Any) -> None:
    """Lists are checked one by one, when they are read."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | bytes) and (isinstance(value, list | Iterator) or hasattr(value, "__iter__")):
        for item in value:
            consume(item)


def check_types(body: dict[str, Any]) -> None:
    """Raise `ValidationError` if `body` is not what the vendor's client takes."""
    consume((STREAMING if body.get("stream") else PLAIN).validate_python(body))


def without_unsupported(call: ModelCall) -> ModelCall:
    """`call` without what is free: options, JSON Schemas, hosted tools' options, and numbers outside of the ranges."""
    sampling = call.sampling
    within = Sampling(
        max(sampling.max_output_tokens or 16, 16),
        abs(sampling.temperature or 0) % 2,
        abs(sampling.top_p or 0) % 1,
        top_logprobs=(sampling.top_logprobs or 0) % 21,
    )
    output = call.output and OutputSchema(call.output.name, {"type": "object"}, strict=True)
    return call.with_(sampling=within, output=output, provider_options={}, hosted_tools=())


def described_in(body: Any) -> Any:
    """`body` with the `detail` of images, which the reference's examples leave out and its schema does not, and without
    audio, which has a schema but is not in any list of the reference.
    """
    if isinstance(body, list):
        return [described_in(item) for item in body if not _is_audio(item)]
    if not isinstance(body, dict):
        return body
    detail = {"detail": "auto"} if body.get("type") == "input_image" else {}
    return {**detail, **{key: described_in(value) for key, value in body.items()}}


def _is_audio(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "input_audio"


@pytest.mark.exhaustive
@examples(40)
@given(generated.calls())
def test_requests_match_the_vendors_types(call: ModelCall):
    try:
        body = body_of(without_unsupported(call))
    except UnsupportedContentError:
        return
    check_types(described_in(body))
    count = json.loads(RESPONSES.operations["count_tokens"].encode(without_unsupported(call)).request.body)
    consume(COUNT.validate_python(described_in(count)))


@examples(40)
@given(strategies.calls(generated.PROVIDER, strategies.text_parts(), generated.tool_content()))
def test_requests_match_the_vendors_schema(call: ModelCall):
    try:
        body = body_of(without_unsupported(call))
    except UnsupportedContentError:
        return
    assert _unlike(body) == []


def _unlike(body: Any) -> list[str]:
    """Items are checked one by one: a message in its short form is one of three schemas that all take it."""
    items = [item for item in described_in(body["input"]) if "id" in item or "type" in item]
    found = [fault for item in items for fault in faults(_ITEMS[item["type"]], item)]
    tools = [fault for tool in body.get("tools", []) for fault in faults("FunctionTool", tool)]
    return found + tools + faults("CreateResponse", {**body, "input": "hi", "tools": []})


_ITEMS = {
    "code_interpreter_call": "CodeInterpreterToolCall",
    "computer_call": "ComputerToolCall",
    "computer_call_output": "ComputerCallOutputItemParam",
    "file_search_call": "FileSearchToolCall",
    "function_call": "FunctionToolCall",
    "function_call_output": "FunctionCallOutputItemParam",
    "message": "OutputMessage",
    "reasoning": "ReasoningItem",
    "web_search_call": "WebSearchToolCall",
}
"""The vendor's schema of each type of item."""


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("name", ["computer", "encrypted", "file_search", "functions", "hosted", "raw_reasoning"])
def test_vendors_output_sent_back_matches_types_and_schema(name: str, stored: bool):
    printed = json.loads((HERE / "published" / f"{name}.reply.json").read_text(encoding="utf-8"))
    reply = RESPONSES.decode(response({**printed, "store": stored}))
    said = reply.message()
    assert said is not None
    screen = ImagePart(Blob.from_url("https://example.com/a.png", "image/png"))
    results = [ToolResult(item.id, (screen if item.name == "computer" else TextPart("a"),)) for item in said.tool_calls]
    answer = [Message.tool(*results)] if results else []
    body = body_of(call(Message.user("hi"), said, *answer, model=reply.model or "m"))
    assert len(body["input"]) == 1 + len(printed["output"]) + len(results)
    assert _unlike(body) == []
    check_types(body)


def test_audio_matches_the_vendors_type_and_schema():
    body = body_of(call(Message.user("hear", AudioPart(Blob.from_bytes(b"sound", "audio/wav")))))
    audio = body["input"][0]["content"][1]
    TypeAdapter(ResponseInputAudioParam).validate_python(audio)
    assert faults("InputAudio", audio) == []


def test_request_checks_detect_violations():
    body = body_of(call())
    assert faults("CreateResponse", body | {"temperature": 3}) != []
    for wrong in ({"input": [{"role": "bard", "content": "a"}]}, {"tools": [{"type": "no"}]}, {"tool_choice": "any"}):
        with pytest.raises(ValidationError):
            check_types(body | wrong)


def described(reply: ModelReply) -> ModelReply:
    """`reply` with the counts that the vendor always reports, and without metadata of free names."""
    usage = reply.usage
    counted = Usage(
        usage.input or 0, usage.output or 0, usage.cached or 0, usage.cache_written or 0, usage.reasoning or 0
    )
    return replace(reply, usage=counted, provider_metadata={})


@examples(40)
@given(generated.replies())
def test_replies_match_the_vendors_types(reply: ModelReply):
    Response.model_validate(json.loads(RESPONSES.render(described(reply)).body))


@examples(40)
@given(strategies.streams(generated.replies().map(described)))
def test_events_match_the_vendors_types(case: tuple[ModelReply, list[Delta]]):
    events = rendered_events(case[1])
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    for event in events:
        EVENT.validate_python(event)


def test_replies_and_events_match_the_vendors_schema():
    reply = described(ModelReply((TextPart("a"),), "stop", model="m", id="r"))
    body = json.loads(RESPONSES.render(reply).body)
    assert faults("Response", body) == []
    for event in rendered_events(deltas_of(reply)):
        assert faults("ResponseStreamEvent", event) == []


def test_reply_checks_detect_violations():
    body = json.loads(RESPONSES.render(described(ModelReply((TextPart("a"),), "stop", model="m"))).body)
    assert faults("Response", {**body, "created_at": "now"}) != []
    assert faults("Response", {**body, "output": [{}]}) != []
    assert faults("ErrorResponse", {"error": "no"}) != []
    with pytest.raises(ValidationError):
        Response.model_validate({**body, "output": [{"type": "message"}]})
    with pytest.raises(ValidationError):
        EVENT.validate_python({"type": "response.output_text.delta"})
