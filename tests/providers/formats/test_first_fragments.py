"""A field of a stream that its first event leaves empty: the first value that is not empty counts."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from abstractcore.schema import (
    ModelReply,
    ReasoningPart,
    ReplyStart,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    accumulate,
    deltas_of,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.damage import Trail, paths_in, value_at, with_value
from tests.providers.formats.cohere_chat import wire as cohere
from tests.providers.formats.openai_chat import wire as chat
from tests.providers.formats.openai_responses import wire as responses
from tests.providers.formats.test_fuzz import payload_of, with_payload
from tests.providers.published import decoded, fixtures, frames_of, provider_of, stream_of

TAKEN_ONCE = {
    *("id", "model", "modelVersion", "responseId", "agent"),
    *("system_fingerprint", "service_tier", "role"),
    *("name", "call_id", "toolUseId"),
}
"""The fields that a decoder takes once, wherever a format has them in several events."""


def streams(format: str) -> Iterator[list[Any]]:
    """The frames of published streams, and of a rendered one with a call."""
    transpiler = FORMATS[format]()
    for fixture in fixtures("stream"):
        if fixture.format == format:
            yield frames_of(transpiler, [stream_of(transpiler, fixture.read())])
    parts = (TextPart("ok"), ToolCall("call_1", "rm", '{"path":"x"}'))
    reply = ModelReply(parts, "tool_calls", model="m", id="r1", provider=provider_of(format))
    renderer = transpiler.renderer()
    yield frames_of(transpiler, [b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish()])


def emptied(frames: list[Any]) -> Iterator[tuple[Trail, list[Any]]]:
    """Yields the frames with a field emptied where it first is, if a later one has the same value for the same item."""
    bodies = [json.loads(payload_of(frame)) if payload_of(frame).startswith(b"{") else None for frame in frames]
    seen: set[Trail] = set()
    for index, body in enumerate(bodies):
        for place in paths_in(body):
            if not place or place[-1] not in TAKEN_ONCE or place in seen or not isinstance(value_at(body, place), str):
                continue
            seen.add(place)
            item, value = item_of(body, place), value_at(body, place)
            later = (other for other in bodies[index + 1 :] if place in paths_in(other))
            if any(value_at(other, place) == value and item_of(other, place) == item for other in later):
                odd = with_payload(frames[index], json.dumps(with_value(body, place, "")).encode())
                yield place, [*frames[:index], odd, *frames[index + 1 :]]


def item_of(body: Any, place: Trail) -> list[Any]:
    """What a field is about, where a stream has several items or calls."""
    around = value_at(body, place[:-1])
    call = around.get("id") if place[-1] == "name" else None
    return [call, *(body.get(name) for name in ("index", "output_index", "contentBlockIndex", "item_id"))]


def without_origins(reply: ModelReply) -> ModelReply:
    """The reply without the models of its reasoning, which may come before the model is known."""
    parts = (replace(part, origin=None) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def test_first_value_that_is_not_empty_counts():
    walked: list[str] = []
    for format in FORMATS:
        transpiler = FORMATS[format]()
        for frames in streams(format):
            whole = accumulate(decoded(transpiler, frames))
            for place, given in emptied(frames):
                walked.append(f"{format}: {'.'.join(map(str, place))}")
                assert without_origins(accumulate(decoded(transpiler, given))) == without_origins(whole), walked[-1]
    assert len(walked) > 60, walked


AZURE = [
    {
        "choices": [],
        "created": 0,
        "id": "",
        "model": "",
        "object": "",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}],
    },
    {**chat.chunk(role="assistant", content=""), "id": "r", "model": "gpt-4o-2024-11-20", "system_fingerprint": "fp"},
    {**chat.chunk(content="Hi."), "id": "r", "model": "gpt-4o-2024-11-20", "system_fingerprint": "fp"},
    {**chat.chunk("stop"), "id": "r", "model": "gpt-4o-2024-11-20", "system_fingerprint": "fp"},
]
"""A stream of Azure (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming).

Its first chunk has the annotations of the prompt, without a choice, an id or a model.
"""


def test_azure_stream_has_its_model_and_id():
    deltas = list(chat.decoded([chat.events(AZURE)]))
    assert deltas[0] == ReplyStart(0, "gpt-4o-2024-11-20", "openai", "r")
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    reply = accumulate(deltas)
    assert (reply.model, reply.id, reply.text) == ("gpt-4o-2024-11-20", "r", "Hi.")
    assert reply.provider_metadata["system_fingerprint"] == "fp"
    assert "prompt_filter_results" in reply.provider_metadata


def test_model_that_comes_after_the_text_is_in_the_end():
    chunks = [{**chat.chunk(content="Hi."), "model": "", "id": ""}, chat.chunk("stop")]
    *_, end = deltas = list(chat.decoded([chat.events(chunks)]))
    assert deltas[0] == ReplyStart(0, "", "openai", "")
    assert (end.model, end.id) == ("m", "r")
    assert (accumulate(deltas).model, accumulate(deltas).id) == ("m", "r")


def test_empty_values_of_later_chunks_do_not_replace_earlier_ones():
    last = {**chat.chunk(usage={"prompt_tokens": 1, "completion_tokens": 1}), "choices": [], "system_fingerprint": ""}
    reply = chat.streamed({**chat.chunk("stop", content="Hi."), "system_fingerprint": "fp"}, last)
    assert reply.provider_metadata["system_fingerprint"] == "fp"


PATH = '{"path":"/tmp/x"}'


@pytest.mark.parametrize(
    "fragments",
    [
        [chat.fragment("", id="c", name=""), chat.fragment(PATH, name="rm")],
        [chat.fragment("", id="c", name=""), chat.fragment(PATH), chat.fragment("", name="rm")],
        [chat.fragment('{"path":'), chat.fragment('"/tmp/x"}', id="c", name="rm")],
        [chat.fragment(PATH, id=""), chat.fragment("", id="c"), chat.fragment("", id="c", name="rm")],
    ],
    ids=["empty name", "name after the arguments", "arguments, then id and name", "id, then name"],
)
def test_call_starts_when_its_name_is_known(fragments):
    chunks = [chat.called({"index": 0, **each}) for each in fragments]
    deltas = list(chat.decoded([chat.events([*chunks, chat.chunk("tool_calls")])]))
    (start,) = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
    assert (start.id, start.name) == ("c", "rm")
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    (call,) = accumulate(deltas).tool_calls
    assert (call.id, call.name, call.arguments) == ("c", "rm", {"path": "/tmp/x"})


def test_two_calls_without_names_at_first_stay_apart():
    first = [chat.fragment("", index=index, id=f"c{index}", name="") for index in (0, 1)]
    second = [chat.fragment(PATH, index=index, name=name) for index, name in ((1, "b"), (0, "a"))]
    reply = chat.streamed(chat.called(*first), chat.called(*second), chat.chunk("tool_calls"))
    assert [(call.id, call.name, call.arguments_text) for call in reply.tool_calls] == [
        ("c0", "a", PATH),
        ("c1", "b", PATH),
    ]


def test_call_that_never_has_a_name_is_kept():
    reply = chat.streamed(chat.called(chat.fragment(PATH, index=0)), chat.chunk("tool_calls"))
    assert [(call.id, call.name, call.arguments_text) for call in reply.tool_calls] == [("call_0", "", PATH)]


def test_responses_call_is_named_by_its_complete_item():
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "rm", "arguments": PATH}
    frames = [
        responses.begin(),
        responses.added({**item, "call_id": "", "name": "", "arguments": ""}),
        responses.delta("function_call_arguments", PATH),
        responses.done(item),
        responses.end(item),
    ]
    transpiler = FORMATS["openai_responses"]()
    deltas = list(decoded(transpiler, frames_of(transpiler, [stream_of(transpiler, frames)])))
    (start,) = [delta for delta in deltas if isinstance(delta, ToolCallStart)]
    assert (start.id, start.name) == ("c", "rm")
    assert "".join(delta.arguments_text for delta in deltas if isinstance(delta, ToolCallDelta)) == PATH


def test_cohere_call_is_named_by_a_later_event():
    named = cohere.arguments(0, PATH)
    named["delta"]["message"]["tool_calls"]["function"]["name"] = "rm"
    frames = [cohere.START, cohere.begun(0, "c", ""), named, cohere.event("tool-call-end", 0), cohere.end("TOOL_CALL")]
    transpiler = FORMATS["cohere_chat"]()
    (call,) = accumulate(decoded(transpiler, frames_of(transpiler, [stream_of(transpiler, frames)]))).tool_calls
    assert (call.id, call.name, call.arguments) == ("c", "rm", {"path": "/tmp/x"})
