"""Our requests and responses match the vendor's schema and the types of its client."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter, ValidationError

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    Delta,
    ImagePart,
    ModelCall,
    ModelReply,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolCallStart,
    Usage,
)
from abstractcore.testing import strategies
from tests.properties import examples
from tests.providers.answering import answered
from tests.providers.formats.openai_chat import generated
from tests.providers.formats.openai_chat.wire import CHAT, body_of, call, faults, rendered_chunks

PLAIN: Any = TypeAdapter(CompletionCreateParamsNonStreaming)
STREAMING: Any = TypeAdapter(CompletionCreateParamsStreaming)


def check_types(body: dict[str, Any]) -> None:
    """Raise `ValidationError` if `body` is not what the vendor's client takes."""
    _consume((STREAMING if body.get("stream") else PLAIN).validate_python(body))


def _consume(value: Any) -> None:
    """Lists are checked one by one, when they are read."""
    if isinstance(value, dict):
        value = value.values()
    if not isinstance(value, str | bytes) and (isinstance(value, list | Iterator) or hasattr(value, "__iter__")):
        for item in value:
            _consume(item)


def without_unsupported(call: ModelCall) -> ModelCall:
    """Returns `call` without free-form values: options, JSON Schemas, and numbers outside the vendor's ranges."""
    sampling = call.sampling
    within = Sampling(
        sampling.max_output_tokens,
        abs(sampling.temperature or 0) % 2,
        abs(sampling.top_p or 0) % 1,
        None,
        sampling.seed,
        sampling.stop,
        sampling.presence_penalty,
        sampling.frequency_penalty,
        (sampling.top_logprobs or 0) % 21,
    )
    modalities = tuple(modality for modality in call.modalities if modality != "image")
    output = call.output and OutputSchema(call.output.name, {"type": "object"}, strict=True)
    return call.with_(sampling=within, modalities=modalities, output=output, provider_options={})


@pytest.mark.exhaustive
@examples(80)
@given(generated.calls())
def test_requests_match_the_vendors_schema_and_types(call: ModelCall):
    try:
        body = body_of(without_unsupported(call))
    except UnsupportedContentError:
        return
    assert faults("CreateChatCompletionRequest", body) == []
    check_types(body)


def test_request_checks_detect_violations():
    body = body_of(call())
    assert faults("CreateChatCompletionRequest", body | {"messages": [{"role": "user"}]}) != []
    assert faults("CreateChatCompletionRequest", body | {"temperature": 3}) != []
    for wrong in ({"messages": [{"role": "user"}]}, {"tools": [{"type": "function"}]}, {"tool_choice": "any"}):
        with pytest.raises(ValidationError):
            check_types(body | wrong)


def _of_a_function(delta: Delta) -> Delta:
    return replace(delta, provider_options={}) if isinstance(delta, ToolCallStart) else delta


def described(reply: ModelReply) -> ModelReply:
    """`reply` with the three counts the vendor always reports, and without metadata of free names."""
    usage = reply.usage
    counted = Usage(
        usage.input or 0, usage.output or 0, usage.cached, None, usage.reasoning, usage.input_audio, usage.output_audio
    )
    return ModelReply(reply.parts, reply.finish_reason, None, counted, reply.model, "openai", reply.id)


@examples(80)
@given(generated.replies())
def test_replies_match_the_vendors_schema_and_types(reply: ModelReply):
    body = json.loads(CHAT.render(described(reply)).body)
    assert faults("CreateChatCompletionResponse", body) == []
    ChatCompletion.model_validate(body)


@examples(80)
@given(strategies.streams(generated.replies().map(described)))
def test_chunks_match_the_vendors_schema_and_types(case: tuple[ModelReply, list[Delta]]):
    """The schema has no streamed calls of custom tools, which the API has: they are checked as those of functions."""
    for chunk in rendered_chunks([_of_a_function(delta) for delta in case[1]]):
        assert faults("CreateChatCompletionStreamResponse", chunk) == []
        ChatCompletionChunk.model_validate(chunk)


def test_reply_checks_detect_violations():
    body = json.loads(CHAT.render(ModelReply((TextPart("a"),), "stop", model="m")).body)
    assert faults("CreateChatCompletionResponse", body) == []
    assert faults("CreateChatCompletionResponse", {**body, "created": "now"}) != []
    assert faults("CreateChatCompletionResponse", {**body, "choices": [{}]}) != []
    assert faults("ErrorResponse", {"error": "no"}) != []
    assert faults("CreateChatCompletionStreamResponse", {**body, "choices": [{"index": 0}]}) != []


@examples(60)
@given(generated.replies())
def test_reply_can_be_sent_back_as_history(reply: ModelReply):
    message = reply.message()
    if message is None:
        return
    try:
        encoded = CHAT.encode(call(*answered(message)))
    except (UnsupportedContentError, InvalidInputError):
        assert not any(isinstance(part, TextPart | ToolCall) for part in message.parts)
        return
    left_out = [warning.path for warning in encoded.warnings if warning.code == "part_left_out"]
    for index, part in enumerate(message.parts):
        if isinstance(part, ReasoningPart | ImagePart):
            assert f"messages[0].parts[{index}]" in left_out
    assert faults("CreateChatCompletionRequest", json.loads(encoded.request.body)) == []
