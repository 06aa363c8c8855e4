"""Decoding streams of Bedrock, valid and invalid."""

import base64
from typing import Any

import pytest

from abstractcore.errors import (
    BadRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.framing import AwsEventStreamMessage
from abstractcore.schema import (
    Billing,
    Blob,
    Citation,
    Delta,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    ReasoningStart,
    ReplyEnd,
    ReplyStart,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    accumulate,
)
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from tests.core.framing.splits import every_split
from tests.providers.formats.bedrock_converse.wire import (
    CONVERSE,
    COUNTS,
    END,
    MODEL,
    START,
    decoded,
    decoded_reply,
    delta,
    event,
    start,
    stop,
    stream_of,
    streamed,
)

ORIGIN = f"bedrock/{MODEL}"
WHOLE = [
    START,
    delta(0, reasoningContent={"text": "Hm."}),
    delta(0, reasoningContent={"signature": "sig"}),
    stop(0),
    delta(1, text="Grüße, "),
    delta(1, text="日本 😀"),
    stop(1),
    start(2, toolUse={"toolUseId": "c1", "name": "f"}),
    delta(2, toolUse={"input": '{"a'}),
    delta(2, toolUse={"input": '": 1}'}),
    stop(2),
    {"messageStop": {"stopReason": "tool_use"}},
    COUNTS,
]


def test_stream_is_decoded_to_deltas_in_order():
    assert list(decoded([stream_of(WHOLE)])) == [
        ReplyStart(0, MODEL, "bedrock"),
        ReasoningStart(1, 0, ORIGIN),
        ReasoningDelta(2, 0, "Hm."),
        ReasoningEnd(3, 0, "sig"),
        TextStart(4, 1),
        TextDelta(5, 1, "Grüße, "),
        TextDelta(6, 1, "日本 😀"),
        TextEnd(7, 1),
        ToolCallStart(8, 2, "c1", "f"),
        ToolCallDelta(9, 2, '{"a'),
        ToolCallDelta(10, 2, '": 1}'),
        ToolCallEnd(11, 2),
        UsageDelta(12, Usage(3, 5)),
        ReplyEnd(13, "tool_calls", "tool_use", {"metrics": {"latencyMs": 7}}),
    ]


def test_deltas_do_not_depend_on_chunk_boundaries():
    stream = stream_of([START, *WHOLE[4:6], *WHOLE[-2:]])
    whole = list(decoded([stream]))
    for pieces in every_split(stream):
        assert list(decoded(pieces)) == whole


def test_last_message_completes_the_stream():
    framer, decoder = CONVERSE.framer(), CONVERSE.decoder()
    for frame in framer.feed(stream_of(WHOLE[:-1])):
        decoder.feed(frame)
        assert not decoder.complete
    (last,) = framer.feed(stream_of(WHOLE[-1:]))
    decoder.feed(last)
    assert decoder.complete


def test_without_a_model_reasoning_has_no_origin():
    reply = accumulate(decoded([stream_of(WHOLE)], BedrockConverse()))
    assert (reply.model, reply.parts[0]) == (None, ReasoningPart("Hm.", "sig"))


# Tool calls


def test_interleaved_parallel_calls_are_separated_by_index():
    reply = streamed(
        start(0, toolUse={"toolUseId": "c1", "name": "f"}),
        start(1, toolUse={"toolUseId": "c2", "name": "g"}),
        delta(0, toolUse={"input": '{"a"'}),
        delta(1, toolUse={"input": '{"b"'}),
        delta(0, toolUse={"input": ":1}"}),
        delta(1, toolUse={"input": ":2}"}),
        stop(0),
        stop(1),
    )
    assert reply.tool_calls == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "g", '{"b":2}'))


def test_call_without_arguments_has_an_empty_object():
    reply = streamed(start(0, toolUse={"toolUseId": "c", "name": "f"}), delta(0, toolUse={"input": ""}), stop(0))
    assert reply.parts == decoded_reply({"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}).parts
    assert reply.tool_calls == (ToolCall("c", "f", "{}"),)


def test_call_without_an_id_gets_one():
    assert streamed(start(3, toolUse={"name": "f"}), stop(3)).tool_calls == (ToolCall("call_3", "f", "{}"),)


def test_invalid_json_arguments_are_kept():
    use = {"toolUseId": "c", "name": "f"}
    (call,) = streamed(start(0, toolUse=use), delta(0, toolUse={"input": '{"a": 1.10, "b'}), stop(0)).tool_calls
    assert call.arguments_text == '{"a": 1.10, "b'
    assert call.arguments_error


def test_hosted_tool_and_its_result_are_parts():
    reply = streamed(
        start(0, toolUse={"toolUseId": "h", "name": "nova_grounding", "type": "server_tool_use"}),
        delta(0, toolUse={"input": '{"q":'}),
        delta(0, toolUse={"input": '"x"}'}),
        stop(0),
        start(1, toolResult={"toolUseId": "h", "status": "success", "type": "nova_grounding_result"}),
        delta(1, toolResult=[{"text": "found "}, {"json": {"n": 1}}]),
        stop(1),
    )
    assert reply.parts == (
        HostedToolCall("h", "nova_grounding", '{"q":"x"}'),
        HostedToolResult("h", (TextPart('found {"n":1}'),), {"status": "success", "type": "nova_grounding_result"}),
    )


# Reasoning


def test_redacted_reasoning_is_kept():
    reply = streamed(delta(0, reasoningContent={"redactedContent": "aGlkZGVu"}), stop(0), delta(1, text="a"), stop(1))
    assert reply.parts == (ReasoningPart(redacted_data="aGlkZGVu", origin=ORIGIN), TextPart("a"))
    whole = decoded_reply({"reasoningContent": {"redactedContent": "aGlkZGVu"}}, {"text": "a"})
    assert reply.parts == whole.parts


def test_chunked_redacted_reasoning_is_one_base64_text():
    pieces = [delta(0, reasoningContent={"redactedContent": base64.b64encode(data).decode()}) for data in (b"a", b"bc")]
    (part,) = streamed(*pieces, stop(0)).parts
    assert isinstance(part, ReasoningPart)
    assert part.redacted_data == base64.b64encode(b"abc").decode()


def test_interleaved_blocks_keep_order_and_signatures():
    reply = streamed(
        *[delta(0, reasoningContent=content) for content in ({"text": "a"}, {"signature": "s1"})],
        stop(0),
        delta(1, reasoningContent={"redactedContent": "aGk="}),
        stop(1),
        delta(2, text="b"),
        stop(2),
        *[delta(3, reasoningContent=content) for content in ({"text": "c"}, {"signature": "s2"})],
        stop(3),
        *[start(i, toolUse={"toolUseId": f"c{i}", "name": "f"}) for i in (4, 5)],
        stop(4),
        stop(5),
    )
    assert reply.parts == (
        ReasoningPart("a", "s1", origin=ORIGIN),
        ReasoningPart(redacted_data="aGk=", origin=ORIGIN),
        TextPart("b"),
        ReasoningPart("c", "s2", origin=ORIGIN),
        ToolCall("c4", "f", "{}"),
        ToolCall("c5", "f", "{}"),
    )


# Citations and images


def test_citations_belong_to_their_block():
    place = {"documentChar": {"documentIndex": 0, "start": 5, "end": 9}}
    reply = streamed(
        delta(0, text="It is "),
        stop(0),
        delta(1, text="8 "),
        delta(1, text="°C"),
        delta(1, citation={"title": "T", "sourceContent": [{"text": "q"}], "location": place}),
        delta(1, citation={"location": {"web": {"url": "https://a"}}}),
        stop(1),
    )
    cited = (
        Citation("", "T", "q", 6, 10, {"location": place}),
        Citation("https://a", start=6, end=10, provider_metadata={"location": {"web": {"url": "https://a"}}}),
    )
    assert reply.parts == (TextPart("It is 8 °C", cited),)


def test_chunked_image_is_one_image():
    pieces = [base64.b64encode(data).decode() for data in (b"pi", b"ng")]
    reply = streamed(
        start(0, image={"format": "png"}), *[delta(0, image={"source": {"bytes": piece}}) for piece in pieces], stop(0)
    )
    assert reply.parts == (ImagePart(Blob.from_bytes(b"ping", "image/png")),)


def test_image_at_a_url_is_a_url_blob():
    source = {"source": {"s3Location": {"uri": "s3://bucket/a.png"}}}
    reply = streamed(start(0, image={"format": "png"}), delta(0, image=source), stop(0))
    assert reply.parts == (ImagePart(Blob.from_url("s3://bucket/a.png", "image/png")),)


def test_failed_image_is_kept():
    reply = streamed(start(0, image={"format": "png"}), delta(0, image={"error": {"message": "no"}}), stop(0))
    assert reply.parts == (OpaquePart("bedrock", "image", {"format": "png", "error": {"message": "no"}}),)


# Usage and metadata


def test_cached_tokens_are_part_of_the_input():
    usage = {
        "inputTokens": 3,
        "outputTokens": 5,
        "totalTokens": 68,
        "cacheReadInputTokens": 40,
        "cacheWriteInputTokens": 20,
        "cacheDetails": [{"ttl": "1h", "inputTokens": 20}],
    }
    reply = accumulate(decoded([stream_of([START, delta(0, text="a"), END, {"metadata": {"usage": usage}}])]))
    assert reply.usage == Usage(63, 5, cached=40, cache_written=20, billing=Billing(counts={"cache_write_1h": 20}))
    assert reply.provider_metadata == {}
    assert decoded_reply({"text": "a"}, usage=usage).usage == reply.usage


def test_missing_usage_is_none_not_zero():
    assert accumulate(decoded([stream_of([START, delta(0, text="a"), END])])).usage == Usage()


@pytest.mark.parametrize("usage", [{"inputTokens": "5"}, {"inputTokens": True, "outputTokens": 1.5}, [1], "5"])
def test_non_integer_counts_are_ignored(usage: Any):
    reply = accumulate(decoded([stream_of([START, END, {"metadata": {"usage": usage}}])]))
    assert reply.usage == Usage()


def test_additional_fields_are_metadata_and_padding_is_dropped():
    end = {
        "messageStop": {"stopReason": "end_turn", "additionalModelResponseFields": {"stop_sequence": "x"}, "p": "ab"}
    }
    last = {"metadata": {"metrics": {"latencyMs": 7}, "trace": {"guardrail": {}}, "new": 1, "p": "abc"}}
    reply = accumulate(decoded([stream_of([START, delta(0, text="a"), end, last])]))
    assert reply.provider_metadata == {
        "additionalModelResponseFields": {"stop_sequence": "x"},
        "metrics": {"latencyMs": 7},
        "trace": {"guardrail": {}},
        "new": 1,
    }


# Ends


@pytest.mark.parametrize(
    ("raw", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("content_filtered", "content_filter"),
        ("guardrail_intervened", "content_filter"),
        ("refusal", "refusal"),
        ("malformed_model_output", "error"),
        ("malformed_tool_use", "error"),
        ("eos_token", "unknown"),
    ],
)
def test_stop_reason_is_mapped_and_kept(raw: str, ours: str):
    reply = accumulate(decoded([stream_of([START, {"messageStop": {"stopReason": raw}}, COUNTS])]))
    assert (reply.finish_reason, reply.raw_finish_reason) == (ours, raw)


def test_end_without_a_stop_reason_is_an_interruption():
    with pytest.raises(StreamInterruptedError, match="without a stop reason"):
        list(decoded([stream_of([START, delta(0, text="a"), stop(0)])]))


def test_truncated_message_is_an_interruption():
    with pytest.raises(StreamInterruptedError, match="in the middle of a message"):
        list(decoded([stream_of(WHOLE)[:-7]]))


def test_end_without_usage_is_complete():
    assert accumulate(decoded([stream_of([START, delta(0, text="a"), END])])).text == "a"


def test_body_that_is_not_a_stream_is_a_server_error():
    with pytest.raises(ServerError, match="not a valid event stream"):
        list(decoded([b'{"output": {"message": {}}}']))
    with pytest.raises(ServerError, match="not an event stream"):
        list(decoded([b""]))


def test_unended_blocks_are_ended_with_the_reply():
    reply = streamed(delta(0, text="a"), start(1, toolUse={"toolUseId": "c", "name": "f"}))
    assert reply.parts == (TextPart("a"), ToolCall("c", "f", "{}"))


def test_block_that_continues_after_its_end_is_one_part():
    assert streamed(delta(0, text="a"), stop(0), delta(0, text="b"), stop(0)).parts == (TextPart("ab"),)


# What is not known, and what is wrong


def test_unknown_events_are_skipped():
    reply = streamed(
        {"newEvent": {"a": 1}}, start(0, newKind={"a": 1}), delta(0, newKind={"a": 1}), delta(1, text="a", newKind=1)
    )
    assert reply.parts == (TextPart("a"),)


def failed(*messages: bytes) -> tuple[list[Delta], ProviderError]:
    """What came before the error, and the error."""
    found: list[Delta] = []
    with pytest.raises(ProviderError) as caught:
        for item in decoded([stream_of([START, delta(0, text="Hel")]) + b"".join(messages)]):
            found.append(item)  # noqa: PERF402 - what came before the error is what counts
    return found, caught.value


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("throttlingException", {"message": "busy"}, RateLimitError),
        ("serviceUnavailableException", {"message": "busy"}, OverloadedError),
        ("internalServerException", {"message": "busy"}, ServerError),
        ("validationException", {"message": "busy"}, BadRequestError),
        ("modelStreamErrorException", {"message": "busy", "originalStatusCode": 500}, ServerError),
        ("modelStreamErrorException", {"originalMessage": "busy", "originalStatusCode": 429}, RateLimitError),
        ("newException", {"message": "busy"}, ServerError),
    ],
)
def test_exception_event_is_classified_after_the_partial_reply(name: str, data: Any, expected: type[ProviderError]):
    found, error = failed(event(name, data, "exception"))
    assert type(error) is expected
    assert (error.message, error.code) == ("busy", name[0].upper() + name[1:])
    assert accumulate(found).text == "Hel"


def test_connection_level_error_is_typed():
    headers = {":message-type": "error", ":error-code": "ThrottlingException", ":error-message": "slow down"}
    _, error = failed(AwsEventStreamMessage(headers, b"").encode())
    assert type(error) is RateLimitError
    assert error.message == "slow down"


def test_malformed_json_is_an_error_with_its_position():
    _, error = failed(event("contentBlockDelta", b'{"delta": {'))
    assert isinstance(error, ServerError)
    assert "message 3 of the stream is not JSON" in error.message


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (delta(0, reasoningContent={"text": "x"}), "changes its kind"),
        (start(0, toolUse={"toolUseId": "c", "name": "f"}), "changes its kind"),
        ({"contentBlockDelta": {"delta": {"text": "a"}}}, "has no index"),
        ({"contentBlockDelta": {"contentBlockIndex": -1, "delta": {"text": "a"}}}, "has no index"),
        ({"contentBlockDelta": {"contentBlockIndex": True, "delta": {"text": "a"}}}, "has no index"),
        (delta(1, reasoningContent={"redactedContent": "no base64"}), "not base64"),
    ],
)
def test_contradictory_message_is_a_typed_error(broken: Any, message: str):
    _, error = failed(stream_of([broken]))
    assert isinstance(error, ServerError)
    assert message in error.message


def test_lone_surrogate_is_replaced():
    found = list(
        decoded(
            [
                stream_of([START])
                + event("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a\\ud83d"}}')
                + stream_of([END])
            ]
        )
    )
    assert accumulate(found).text == "a\ufffd"


def test_message_of_many_megabytes_is_read():
    text = "x" * (5 * 1024 * 1024)
    stream = stream_of([START, delta(0, text=text), END, COUNTS])
    pieces = [stream[i : i + 65_536] for i in range(0, len(stream), 65_536)]
    assert accumulate(decoded(pieces)).text == text
