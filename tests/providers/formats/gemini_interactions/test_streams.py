"""Replies and streams as servers really send them."""

from typing import Any

import pytest

from abstractcore.errors import (
    AuthenticationError,
    BadRequestError,
    OverloadedError,
    QuotaError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.schema import (
    AudioPart,
    Billing,
    Blob,
    Citation,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    ModelReply,
    OpaquePart,
    ReasoningPart,
    TextDelta,
    TextPart,
    ToolCall,
    Usage,
    accumulate,
)
from abstractcore.testing import check_render_again, check_reply_losses, check_stream
from tests.providers.formats.gemini_interactions.wire import (
    CREATED,
    HEAD,
    INTERACTIONS,
    PROVIDER,
    completed,
    decoded,
    delta,
    event,
    events,
    response,
    start,
    stop,
    streamed,
    text,
    whole,
)

ORIGIN = f"{PROVIDER}/m"
SIGNATURE = "c2lnbg=="
IMAGE = {"type": "image", "mime_type": "image/png", "data": "aWE="}
PICTURE = ImagePart(Blob.from_bytes(b"ia", "image/png"))


def test_text_in_the_start_is_like_a_delta():
    said = [start(0, "model_output", content=[{"type": "text", "text": "Based"}]), text(" on"), stop(0)]
    assert streamed(*said).parts == (TextPart("Based on"),)


def test_thought_in_the_start_continues_in_deltas():
    summary = [{"type": "text", "text": "I "}]
    said = [
        start(0, "thought", signature="", summary=summary),
        delta(0, "thought_summary", content={"text": "see."}),
        delta(0, "thought_signature", signature=SIGNATURE),
        stop(0),
    ]
    assert streamed(*said).parts == (ReasoningPart("I see.", SIGNATURE, origin=ORIGIN),)


def test_thought_that_is_only_a_signature():
    parts = (ReasoningPart("", SIGNATURE, origin=ORIGIN),)
    assert whole({"type": "thought", "signature": SIGNATURE}).parts == parts
    said = [start(0, "thought"), delta(0, "thought_signature", signature=SIGNATURE), stop(0)]
    assert streamed(*said).parts == parts


def test_thought_with_an_image_is_kept_whole():
    said = [
        start(0, "thought"),
        delta(0, "thought_summary", content={"type": "text", "text": "A "}),
        delta(0, "thought_summary", content={"type": "text", "text": "draft"}),
        delta(0, "thought_summary", content=IMAGE),
        delta(0, "thought_signature", signature=SIGNATURE),
        stop(0),
    ]
    summary = [{"type": "text", "text": "A draft"}, IMAGE]
    thought = {"type": "thought", "summary": summary, "signature": SIGNATURE}
    assert streamed(*said).parts == whole(thought).parts == (OpaquePart(PROVIDER, "thought", thought),)


def test_annotations_come_after_their_text():
    notes = [{"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 7}]
    said = [
        start(0, "model_output"),
        text("Grüße"),
        delta(0, "text_annotation_delta", annotations=notes),
        text(" 😀"),
        stop(0),
    ]
    cited = TextPart("Grüße 😀", (Citation("https://a", "A", start=0, end=5),))
    assert streamed(*said).parts == (cited,)
    content = [{"type": "text", "text": "Grüße 😀", "annotations": notes}]
    assert whole({"type": "model_output", "content": content}).parts == (cited,)


def test_media_between_texts_keep_their_order():
    said = [
        start(0, "model_output"),
        text("one"),
        delta(0, **IMAGE),
        text("two"),
        stop(0),
    ]
    assert streamed(*said).parts == (TextPart("one"), PICTURE, TextPart("two"))


def test_chunks_of_raw_audio_are_joined():
    chunk = {"type": "audio", "mime_type": "audio/l16", "sample_rate": 24000}
    said = [start(0, "model_output"), delta(0, **chunk, data="AAE="), delta(0, **chunk, data="AgM="), stop(0)]
    sound = AudioPart(Blob.from_bytes(b"\0\1\2\3", "audio/l16"), provider_options={PROVIDER: {"sample_rate": 24000}})
    assert streamed(*said).parts == (sound,)


def test_arguments_in_deltas_or_in_the_start():
    in_pieces = [
        start(0, "function_call", id="c1", name="f", arguments={}),
        delta(0, "arguments_delta", arguments='{"price": '),
        delta(0, "arguments_delta", arguments="1.10}"),
        stop(0),
    ]
    assert streamed(*in_pieces).parts == (ToolCall("c1", "f", '{"price": 1.10}'),)
    at_once = [start(0, "function_call", id="c1", name="f", arguments={"a": 1}), stop(0)]
    assert streamed(*at_once).parts == (ToolCall("c1", "f", '{"a": 1}'),)
    without = [start(0, "function_call", id="c1", name="f", arguments={}), stop(0)]
    assert streamed(*without).parts == (ToolCall("c1", "f", "{}"),)


def test_calls_in_parallel_may_interleave():
    said = [
        start(0, "function_call", id="c1", name="f", arguments={}),
        start(1, "function_call", id="c2", name="g", arguments={}),
        delta(1, "arguments_delta", arguments='{"b":2}'),
        delta(0, "arguments_delta", arguments='{"a":1}'),
        stop(1),
        stop(0),
    ]
    reply = streamed(*said)
    assert reply.parts == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "g", '{"b":2}'))
    assert reply.finish_reason == "tool_calls"


def test_hosted_call_is_complete_at_its_stop():
    said = [
        start(0, "google_search_call", id="h", signature="", arguments={}),
        delta(0, "google_search_call", arguments={"queries": ["a"]}, signature=SIGNATURE),
        stop(0),
        start(1, "google_search_result", call_id="h", signature=""),
        delta(1, "google_search_result", result=[{"search_suggestions": "b"}], is_error=False),
        stop(1),
    ]
    call, result = streamed(*said).parts
    metadata = {"type": "google_search_call", "signature": SIGNATURE}
    assert call == HostedToolCall("h", "google_search", '{"queries": ["a"]}', {PROVIDER: metadata})
    kept = {"type": "google_search_result", "result": [{"search_suggestions": "b"}], "is_error": False}
    assert result == HostedToolResult("h", (), {PROVIDER: kept})


def test_functions_that_an_agent_ran_itself_need_no_results():
    steps: list[Any] = [
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {"a": 1}},
        {"type": "function_result", "call_id": "c1", "name": "f", "result": "12"},
        {"type": "model_output", "content": [{"type": "text", "text": "Twelve."}]},
    ]
    reply = whole(*steps)
    assert reply.finish_reason == "stop"
    assert reply.parts == (
        HostedToolCall("c1", "f", '{"a": 1}', {PROVIDER: {"type": "function_call"}}),
        HostedToolResult("c1", (TextPart("12"),), {PROVIDER: {"type": "function_result", "name": "f"}}),
        TextPart("Twelve."),
    )
    said = [
        start(0, "function_call", id="c1", name="f", arguments={}),
        delta(0, "arguments_delta", arguments='{"a": 1}'),
        stop(0),
        start(1, "function_result", call_id="c1", name="f"),
        delta(1, "function_result", result="12"),
        stop(1),
        start(2, "model_output"),
        text("Twelve.", 2),
        stop(2),
    ]
    assert streamed(*said).parts == reply.parts


def test_repeated_input_is_not_part_of_the_reply():
    ask = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
    answer = {"type": "model_output", "content": [{"type": "text", "text": "ho"}]}
    assert whole(ask, answer).parts == (TextPart("ho"),)
    assert streamed(start(0, "user_input"), stop(0), start(1, **answer), stop(1)).parts == (TextPart("ho"),)


def test_steps_only_at_the_end_of_a_stream_are_read():
    answer = {"type": "model_output", "content": [{"type": "text", "text": "ho"}]}
    assert accumulate(decoded([events([CREATED, completed(steps=[answer])])])).parts == (TextPart("ho"),)


def test_unknown_events_and_deltas_are_let_pass():
    said = [
        event("interaction.in_progress", interaction_id="v1_a"),
        start(0, "model_output"),
        delta(0, "sparkle", level=3),
        text("ho"),
        delta(7, "arguments_delta", arguments="{}"),
        event("step.paused", index=0),
        stop(0),
    ]
    sparkle = OpaquePart(PROVIDER, "content.sparkle", {"type": "sparkle", "level": 3})
    assert streamed(*said).parts == (sparkle, TextPart("ho"))


def test_unknown_step_is_joined_from_its_deltas():
    said = [
        start(0, "hologram", notes="a"),
        delta(0, "hologram", notes="b", level=1),
        delta(0, "hologram", level=2),
        stop(0),
    ]
    data = {"type": "hologram", "notes": "ab", "level": 2}
    assert streamed(*said).parts == (OpaquePart(PROVIDER, "hologram", data),)


def test_steps_without_a_start_are_implied():
    said = [delta(0, "thought_summary", content={"text": "Hm."}), stop(0), text("ho", 1)]
    assert streamed(*said).parts == (ReasoningPart("Hm.", origin=ORIGIN), TextPart("ho"))


def test_error_of_a_step_that_did_not_fail_the_interaction_is_kept():
    failed = {"type": "model_output", "error": {"code": 13, "message": "no"}}
    reply = whole({"type": "model_output", "content": [{"type": "text", "text": "ho"}]}, failed)
    assert reply.parts == (TextPart("ho"), OpaquePart(PROVIDER, "model_output", failed))


# Ends


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "stop"),
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
        ("requires_continuation", "paused"),
        ("requires_action", "unknown"),
        ("cancelled", "unknown"),
        ("in_progress", "paused"),
        ("queued", "paused"),
        ("paused_by_moonlight", "unknown"),
    ],
)
def test_every_status_has_a_finish_reason(status: str, reason: str):
    output = {"type": "model_output", "content": [{"type": "text", "text": "ho"}]}
    reply = whole(output, status=status)
    assert (reply.finish_reason, reply.raw_finish_reason) == (reason, status)
    said = [CREATED, start(0, "model_output"), text("ho"), stop(0), completed(status)]
    assert accumulate(decoded([events(said)])).finish_reason == reason


@pytest.mark.parametrize("status", ["completed", "requires_action"])
def test_calls_are_why_it_ended(status: str):
    call = {"type": "function_call", "id": "c1", "name": "f", "arguments": {}}
    assert whole(call, status=status).finish_reason == "tool_calls"
    assert whole(call, status="incomplete").finish_reason == "length"


def test_token_to_continue_with_is_metadata():
    reply = whole(status="requires_continuation", continuation_token="tok")
    assert reply.provider_metadata == {"continuation_token": "tok"}
    update = event("interaction.status_update", interaction_id="v1_a", status="in_progress", continuation_token="t")
    assert streamed(update).provider_metadata == {"continuation_token": "t"}


def failing_step(code: int) -> dict[str, Any]:
    return {"steps": [{"type": "model_output", "error": {"code": code, "message": "no"}}]}


FAILURES: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "errors": ({"errors": [{"code": "quota_exceeded", "message": "no"}]}, QuotaError),
    "nothing": ({}, ServerError),
    "an unknown code": ({"errors": [{"code": "moonlight", "message": "no"}]}, ServerError),
    "a step": (failing_step(14), OverloadedError),
    "a step's arguments": (failing_step(3), BadRequestError),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failed_interaction_is_its_error(name: str):
    fields, expected = FAILURES[name]
    body: dict[str, Any] = {**HEAD, "status": "failed", "steps": [], **fields}
    with pytest.raises(expected):
        INTERACTIONS.decode(response(body))
    with pytest.raises(expected):
        list(decoded([events([CREATED, completed("failed", **fields)])]))


def test_status_update_that_it_failed_is_an_error():
    with pytest.raises(ServerError):
        list(decoded([events([CREATED, event("interaction.status_update", interaction_id="v1_a", status="failed")])]))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "authentication", "message": "no"}, AuthenticationError),
        ({"code": "gateway_timeout"}, Exception),
        ({"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}, Exception),
        ({}, ServerError),
    ],
)
def test_error_event_ends_the_stream(error: Any, expected: type[Exception]):
    with pytest.raises(expected):
        list(decoded([events([CREATED, start(0, "model_output"), text("ho"), event("error", error=error)])]))


def test_stream_without_its_end_is_interrupted():
    for count in range(1, 4):
        frames = [CREATED, start(0, "model_output"), text("ho"), stop(0)][:count]
        with pytest.raises(StreamInterruptedError):
            list(decoded([events(frames)]))


def test_stream_is_complete_before_its_end_mark():
    decoder, framer = INTERACTIONS.decoder(), INTERACTIONS.framer()
    for frame in framer.feed(events([CREATED, completed()]).removesuffix(b"data: [DONE]\n\n")):
        decoder.feed(frame)
    assert decoder.complete


def test_text_is_delivered_at_once():
    framer, decoder = INTERACTIONS.framer(), INTERACTIONS.decoder()
    frames = framer.feed(events([CREATED, start(0, "model_output"), text("a"), text("b")]))
    deltas = [decoder.feed(frame) for frame in frames]
    assert [[d.text for d in some if isinstance(d, TextDelta)] for some in deltas[2:4]] == [["a"], ["b"]]


# Usage

COUNTS = {
    "total_tokens": 366,
    "total_input_tokens": 11,
    "total_output_tokens": 90,
    "total_thought_tokens": 245,
    "total_cached_tokens": 4,
    "total_tool_use_tokens": 20,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 3}, {"modality": "audio", "tokens": 8}],
    "output_tokens_by_modality": [{"modality": "image", "tokens": 80}],
    "cached_tokens_by_modality": [{"modality": "video", "tokens": 4}],
    "tool_use_tokens_by_modality": [{"modality": "text", "tokens": 20}],
    "grounding_tool_count": [{"type": "google_search", "count": 2}, {"type": "retrieval", "count": 1}],
}
USAGE = Usage(
    31,
    335,
    cached=4,
    reasoning=245,
    input_audio=8,
    billing=Billing(tier="flex", counts={"output_image": 80, "cache_read_video": 4, "web_search": 2}),
)


def test_usage_is_whole_and_renders_identically():
    reply = whole(usage=COUNTS, service_tier="flex")
    assert reply.usage == USAGE
    assert set(reply.provider_metadata) == {"usage"}
    assert set(reply.provider_metadata["usage"]) == {
        "total_tool_use_tokens",
        "input_tokens_by_modality",
        "tool_use_tokens_by_modality",
        "grounding_tool_count",
    }
    rendered = INTERACTIONS.render(reply)
    assert rendered.warnings == ()
    assert INTERACTIONS.decode(response(rendered.body)).usage == USAGE


def test_usage_of_a_stream_is_its_last():
    early = {"total_input_tokens": 1}
    said = [
        start(0, "model_output"),
        event("step.delta", index=0, delta={"type": "text", "text": "ho"}, metadata={"total_usage": early}),
        stop(0, usage={"total_input_tokens": 5}),
    ]
    deltas = list(decoded([events([CREATED, *said, completed(usage=COUNTS, service_tier="flex")])]))
    inputs = [d.usage.input for d in deltas if d.type == "usage"]
    assert list(dict.fromkeys(inputs)) == [1, 5, 31]
    assert accumulate(deltas).usage == USAGE


def test_usage_of_one_modality_needs_no_metadata():
    reply = ModelReply((TextPart("a"),), "stop", usage=Usage(5, 3, input_audio=4), provider=PROVIDER)
    assert INTERACTIONS.render(reply).warnings == ()
    check_reply_losses(INTERACTIONS, reply)


# What our server side sends


@pytest.mark.parametrize(
    "metadata",
    [
        {"steps": []},
        {"status": "x", "created": "2026-09-21T12:01:25Z"},
        {"usage": {}},
        {"usage": 5},
        {"usage": {"total_tokens": 5}},
        {"usage": {"total_tool_use_tokens": 9}},
        {"usage": {"new_count": 9}},
        {"service_tier": "flex"},
        {"previous_interaction_id": "v1"},
    ],
)
@pytest.mark.parametrize("usage", [Usage(), Usage(3, 4), Usage(30, 4, billing=Billing(tier="flex"))])
def test_laws_hold_for_metadata_with_names_of_the_format(metadata: Any, usage: Usage):
    reply = ModelReply((TextPart("a"),), "stop", usage=usage, model="m", provider=PROVIDER, provider_metadata=metadata)
    check_reply_losses(INTERACTIONS, reply)
    check_render_again(INTERACTIONS, reply)
    check_stream(INTERACTIONS, reply)


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "unknown"])
def test_reasons_without_a_status_are_completed_with_a_warning(reason: Any):
    rendered = INTERACTIONS.render(ModelReply((TextPart("a"),), reason, provider=PROVIDER))
    assert [warning.code for warning in rendered.warnings] == ["finish_reason_changed"]
    assert b'"status":"completed"' in rendered.body
