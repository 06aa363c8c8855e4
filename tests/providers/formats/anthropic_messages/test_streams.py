"""Streams as real servers send them."""

import json
from typing import Any

import pytest

from abstractcore.errors import OverloadedError, ProviderError, ServerError, StreamInterruptedError
from abstractcore.schema import (
    Citation,
    Delta,
    HostedToolCall,
    HostedToolResult,
    Message,
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
    ToolResult,
    Usage,
    UsageDelta,
    accumulate,
)
from tests.core.framing.splits import every_split
from tests.providers.formats.anthropic_messages.wire import (
    MESSAGES,
    ORIGIN,
    block,
    body_of,
    call,
    deltas_of_stream,
    end,
    message,
    response,
    start,
    streamed,
    text,
    tool,
)
from tests.providers.published import decoded, frames_of, stream_of

SIGN = {"type": "signature_delta", "signature": "sig"}
THINK = {"type": "thinking_delta", "thinking": "Hm."}
WHOLE = [
    start(input_tokens=3, output_tokens=1),
    *block(0, THINK, SIGN, type="thinking", thinking="", signature=""),
    *text(1, "Grüße, ", "日本 😀"),
    *tool(2, "c1", "", '{"a', '": 1}'),
    *end("tool_use", output_tokens=9),
]


def test_stream_is_decoded_to_deltas_in_order():
    assert deltas_of_stream(stream_of(MESSAGES, WHOLE)) == [
        ReplyStart(0, "m", "anthropic", "r"),
        UsageDelta(1, Usage(3, 1)),
        ReasoningStart(2, 0, ORIGIN),
        ReasoningDelta(3, 0, "Hm."),
        ReasoningEnd(4, 0, "sig"),
        TextStart(5, 1),
        TextDelta(6, 1, "Grüße, "),
        TextDelta(7, 1, "日本 😀"),
        TextEnd(8, 1),
        ToolCallStart(9, 2, "c1", "f"),
        ToolCallDelta(10, 2, '{"a'),
        ToolCallDelta(11, 2, '": 1}'),
        ToolCallEnd(12, 2),
        UsageDelta(13, Usage(3, 9)),
        ReplyEnd(14, "tool_calls", "tool_use"),
    ]


# Reasoning and order


def test_interleaved_blocks_keep_order_and_signatures():
    reply = streamed(
        start(),
        *block(0, THINK, SIGN, type="thinking", thinking=""),
        *block(1, type="redacted_thinking", data="xyz"),
        *text(2, "So."),
        *block(3, {**SIGN, "signature": "s2"}, type="thinking", thinking=""),
        *tool(4, "c1", '{"a": 1}'),
        *tool(5, "c2", '{"b": 2}'),
        *end("tool_use"),
    )
    assert reply.parts == (
        ReasoningPart("Hm.", "sig", origin=ORIGIN),
        ReasoningPart(redacted_data="xyz", origin=ORIGIN),
        TextPart("So."),
        ReasoningPart("", "s2", origin=ORIGIN),
        ToolCall("c1", "f", '{"a": 1}'),
        ToolCall("c2", "f", '{"b": 2}'),
    )


# Tool calls


def test_two_calls_with_one_index_are_two_calls():
    reply = streamed(start(), *tool(0, "c1", "{}"), *tool(0, "c2", '{"a":1}'), *end("tool_use"))
    assert reply.tool_calls == (ToolCall("c1", "f", "{}"), ToolCall("c2", "f", '{"a":1}'))


def test_interleaved_parallel_calls_are_separated_by_index():
    one, two = tool(0, "c1", '{"a"', ":1}"), tool(1, "c2", '{"b"', ":2}")
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]
    reply = streamed(start(), *mixed, *end("tool_use"))
    assert reply.tool_calls == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "f", '{"b":2}'))


def test_unknown_fields_of_calls_and_texts_are_kept():
    caller = {"type": "code_execution_20260120", "tool_id": "s1"}
    text_block = block(0, {"type": "text_delta", "text": "a"}, type="text", text="", note="n")
    called = block(1, type="tool_use", id="c1", name="f", input={}, caller=caller, toolset_name=None)
    reply = streamed(start(), *text_block, *called, *end("tool_use"))
    assert reply.parts == (
        TextPart("a", provider_options={"anthropic": {"note": "n"}}),
        ToolCall("c1", "f", "{}", provider_options={"anthropic": {"caller": caller}}),
    )
    body = message({"type": "text", "text": "a", "note": "n"}, called[0]["content_block"])
    assert MESSAGES.decode(response(body)).parts == reply.parts
    said = reply.message()
    assert said is not None
    history = call(said, Message.tool(ToolResult.text("c1", "8 °C")))
    assert body_of(history)["messages"][0]["content"] == [
        {"type": "text", "text": "a", "note": "n"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}, "caller": caller},
    ]


def test_call_without_an_id_gets_one():
    assert streamed(start(), *text(0, "a"), *tool(1, "", "{}"), *end("tool_use")).tool_calls[0].id == "call_1"


@pytest.mark.parametrize("pieces", [(), ("",), ("", "")])
def test_call_without_arguments_has_an_empty_object(pieces: tuple[str, ...]):
    assert streamed(start(), *tool(0, "c", *pieces), *end()).tool_calls == (ToolCall("c", "f", "{}"),)


def test_complete_arguments_in_the_start_event_are_kept():
    call = streamed(start(), *tool(0, "c", input={"a": 1}), *end()).tool_calls[0]
    assert call.arguments == {"a": 1}


def test_truncated_arguments_are_kept():
    reply = streamed(start(), *tool(0, "c", '{"a": "Ul'), *end("max_tokens"))
    assert (reply.tool_calls[0].arguments_text, reply.finish_reason) == ('{"a": "Ul', "length")


# Hosted tools, citations, and what is not known


def test_hosted_tool_and_its_result_are_parts():
    found = [{"type": "web_search_result", "title": "Ulm", "url": "https://a", "encrypted_content": "x"}]
    query = {"type": "input_json_delta", "partial_json": '{"query": "ulm"}'}
    reply = streamed(
        start(),
        *block(0, query, type="server_tool_use", id="s1", name="web_search", input={}),
        *block(1, type="web_search_tool_result", tool_use_id="s1", content=found),
        *end("pause_turn"),
    )
    call, result = reply.parts
    assert call == HostedToolCall("s1", "web_search", '{"query": "ulm"}', {"type": "server_tool_use"})
    assert isinstance(result, HostedToolResult)
    assert (result.call_id, result.content) == ("s1", (TextPart("Ulm <https://a>"),))
    assert reply.finish_reason == "paused"


def test_citations_belong_to_the_text_of_their_block():
    cited = {"type": "web_search_result_location", "url": "https://a", "title": "A", "cited_text": "q"}
    piece = {"type": "citations_delta", "citation": {**cited, "encrypted_index": "e"}}
    words = {"type": "text_delta", "text": "cited"}
    reply = streamed(
        start(), *text(0, "Not "), *block(1, words, piece, type="text", text="", citations=[]), *text(2, "."), *end()
    )
    assert reply.parts == (TextPart("Not cited.", (Citation("https://a", "A", "q", 4, 9, {"encrypted_index": "e"}),)),)


def test_block_of_an_unknown_type_is_kept_with_its_deltas():
    deltas = {"type": "compaction_delta", "content": "a"}, {"type": "compaction_delta", "content": "b", "n": 1}
    reply = streamed(start(), *block(0, *deltas, type="compaction", content=""), *end())
    assert reply.parts == (OpaquePart("anthropic", "compaction", {"content": "ab", "n": 1}),)


@pytest.mark.parametrize(
    "event", [{"type": "ping"}, {"type": "news", "a": 1}, {}, {"type": "content_block_delta", "index": 7, "delta": {}}]
)
def test_unknown_and_empty_events_are_skipped(event: Any):
    assert streamed(start(), event, *text(0, "a"), event, *end()) == streamed(start(), *text(0, "a"), *end())


def test_text_without_a_start_event_is_one_block():
    events = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}]
    assert streamed(start(), *events, *end()).text == "a"


def test_content_of_start_events_counts():
    reply = streamed(start(), *block(0, {"type": "text_delta", "text": "b"}, type="text", text="a"), *end())
    assert reply.text == "ab"


# Usage


@pytest.mark.parametrize(
    ("first", "last", "usage"),
    [
        ({"input_tokens": 25, "output_tokens": 1}, {"output_tokens": 15}, Usage(25, 15)),
        ({"input_tokens": 25, "output_tokens": 1}, {"input_tokens": 40, "output_tokens": 15}, Usage(40, 15)),
        ({}, {"output_tokens": 15}, Usage(None, 15)),
        ({"input_tokens": 25, "output_tokens": 1}, {}, Usage(25, 1)),
        ({}, {}, Usage()),
        (
            {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10},
            {"output_tokens": 7, "cache_read_input_tokens": None, "output_tokens_details": {"thinking_tokens": 4}},
            Usage(115, 7, 100, 10, 4),
        ),
    ],
)
def test_usage_counts_are_cumulative(first: Any, last: Any, usage: Usage):
    assert streamed(start(**first), *text(0, "a"), *end(**last)).usage == usage


def test_unknown_usage_fields_are_metadata():
    reply = streamed(start(input_tokens=1, new={"a": 1}), *end(output_tokens=2, server_tool_use={"runs": 1}))
    assert reply.provider_metadata == {"usage": {"new": {"a": 1}, "server_tool_use": {"runs": 1}}}


# Ends


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("pause_turn", "paused"),
        ("refusal", "refusal"),
        ("compaction", "stop"),
        (None, "unknown"),
    ],
)
def test_finish_reason_is_mapped_and_kept(raw: str | None, reason: str):
    for reply in (streamed(start(), *end(raw)), MESSAGES.decode(response(message(stop_reason=raw)))):
        assert (reply.finish_reason, reply.raw_finish_reason) == (reason, raw)


def test_stop_sequence_and_refusal_are_metadata():
    details = {"type": "refusal", "category": "cyber"}
    change = {"stop_reason": "refusal", "stop_sequence": "END", "stop_details": details}
    reply = streamed(start(), {"type": "message_delta", "delta": change}, {"type": "message_stop"})
    assert reply.provider_metadata == {"stop_sequence": "END", "stop_details": details}


def test_error_mid_stream_is_typed_and_the_partial_reply_kept():
    error_event = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    deltas: list[Delta] = []
    with pytest.raises(OverloadedError, match="Overloaded"):
        for delta in decoded(
            MESSAGES, frames_of(MESSAGES, [stream_of(MESSAGES, [start(), *text(0, "a"), error_event])])
        ):
            deltas.append(delta)  # noqa: PERF402 - what came before the error counts
    assert accumulate(deltas).text == "a"


@pytest.mark.parametrize("count", range(1, len(WHOLE)))
def test_stream_truncated_before_its_end_event_is_interrupted(count: int):
    with pytest.raises(StreamInterruptedError):
        streamed(*WHOLE[:count])


def test_nothing_is_read_after_the_end_event():
    stream = stream_of(MESSAGES, WHOLE)
    assert deltas_of_stream(stream + b"data: rubbish\n\n") == deltas_of_stream(stream)


# Bytes


@pytest.mark.parametrize("end_of_line", [b"\n", b"\r\n", b"\r"])
def test_deltas_do_not_depend_on_chunk_boundaries(end_of_line: bytes):
    stream = stream_of(MESSAGES, WHOLE).replace(b"\n", end_of_line)
    whole = deltas_of_stream(stream)
    for pieces in every_split(stream):
        assert deltas_of_stream(*pieces) == whole


def test_sse_syntax_variants_give_the_same_deltas():
    stream = stream_of(MESSAGES, WHOLE)
    odd = b"\xef\xbb\xbf: hello\n\n" + stream.replace(b"data: ", b"data:").replace(b"\n\n", b"\n: keep-alive\n\n")
    assert deltas_of_stream(odd) == deltas_of_stream(stream)


def test_event_names_are_optional():
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in WHOLE)
    assert deltas_of_stream(stream) == deltas_of_stream(stream_of(MESSAGES, WHOLE))


def test_surrogate_half_waits_for_the_other():
    stream = stream_of(MESSAGES, [start(), *text(0, "a", "b", "c"), *end()])
    halved = stream.replace(b'"a"', b'"\\ud83d"').replace(b'"b"', b'"\\ude00"').replace(b'"c"', b'"\\ud83d"')
    assert accumulate(deltas_of_stream(halved)).text == "😀\ufffd"


def test_text_of_megabytes_is_read():
    assert streamed(start(), *text(0, "x" * (5 << 20)), *end()).text == "x" * (5 << 20)


@pytest.mark.parametrize("data", [b"{", b"<html>", b"\xff"])
def test_malformed_json_event_is_an_error_with_its_number(data: bytes):
    with pytest.raises(ServerError, match="event 2 of the stream is not JSON"):
        deltas_of_stream(stream_of(MESSAGES, [start()]) + b"data: " + data + b"\n\n")


@pytest.mark.parametrize("stream", [b"", b"<html>no</html>", b'{"type": "message"}'])
def test_body_that_is_not_a_stream_is_an_error(stream: bytes):
    with pytest.raises(ProviderError):
        deltas_of_stream(stream)
