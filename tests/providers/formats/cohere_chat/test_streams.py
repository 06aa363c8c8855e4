"""Streams as real servers send them."""

import json
from typing import Any

import pytest

from abstractcore.errors import ProviderError, RequestTimeoutError, ServerError, StreamInterruptedError
from abstractcore.schema import (
    Billing,
    Citation,
    Delta,
    Message,
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
from abstractcore_providers.formats.cohere_chat import CohereChat
from tests.core.framing.splits import every_split
from tests.providers.formats.cohere_chat.wire import (
    COHERE,
    START,
    arguments,
    begun,
    body_of,
    decoded,
    end,
    event,
    events,
    response,
    streamed,
    text,
    thought,
)
from tests.providers.formats.cohere_chat.wire import call as asked

USAGE = {"billed_units": {"input_tokens": 1.0}, "tokens": {"input_tokens": 9.0, "output_tokens": 5.0}}
USAGE["cached_tokens"] = 4.0  # type: ignore[assignment]
WHOLE = [
    START,
    thought("Hm."),
    event("content-end", 0),
    event("tool-plan-delta", tool_plan="I will "),
    event("tool-plan-delta", tool_plan="ask, 日本 😀"),
    begun(0, "c1", "f"),
    arguments(0, '{"a'),
    arguments(0, '": 1}'),
    event("tool-call-end", 0),
    end("TOOL_CALL", usage=USAGE),
]


def test_stream_is_decoded_to_deltas_in_order():
    plan, call = 1 << 20, (1 << 20) + 1
    assert list(decoded([events(WHOLE)])) == [
        ReplyStart(0, "m", "cohere", "r"),
        ReasoningStart(1, 0, "cohere/m"),
        ReasoningDelta(2, 0, "Hm."),
        ReasoningEnd(3, 0),
        TextStart(4, plan),
        TextDelta(5, plan, "I will "),
        TextDelta(6, plan, "ask, 日本 😀"),
        ToolCallStart(7, call, "c1", "f"),
        ToolCallDelta(8, call, '{"a'),
        ToolCallDelta(9, call, '": 1}'),
        TextEnd(10, plan),
        ToolCallEnd(11, call),
        UsageDelta(12, Usage(9, 5, cached=4, billing=Billing(counts={"billed_input": 1}))),
        ReplyEnd(13, "tool_calls", "TOOL_CALL"),
    ]


@pytest.mark.parametrize("line", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_deltas_do_not_depend_on_chunk_boundaries(line: bytes):
    expected = list(decoded([events(WHOLE[3:])]))
    for pieces in every_split(events(WHOLE[3:], line)):
        assert list(decoded(pieces)) == expected


def test_tool_plan_is_text_before_the_calls():
    function = {"name": "f", "arguments": '{"a": 1}'}
    message = {"tool_plan": "I will ask, 日本 😀", "tool_calls": [{"id": "c1", "function": function}]}
    message |= {"content": [{"type": "thinking", "thinking": "Hm."}]}
    whole = COHERE.decode(response({"model": "m", "finish_reason": "TOOL_CALL", "message": message}))
    assert streamed(*WHOLE).parts == whole.parts
    assert [part.type for part in whole.parts] == ["reasoning", "text", "tool_call"]


# Tool calls


def test_interleaved_parallel_calls_are_separated():
    pieces = [begun(0, "a", "f"), begun(1, "b", "g"), arguments(0, "{"), arguments(1, "["), arguments(0, "}")]
    assert streamed(START, *pieces, end()).tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "g", "["))


def test_two_calls_with_one_index_are_two_calls():
    pieces = [begun(0, "a", "f"), arguments(0, "{}"), begun(0, "b", "f"), arguments(0, "[]"), begun(0, "c", "f")]
    assert streamed(START, *pieces, end()).tool_calls == (
        ToolCall("a", "f", "{}"),
        ToolCall("b", "f", "[]"),
        ToolCall("c", "f", ""),
    )


def test_call_after_two_with_one_index_is_a_separate_block():
    pieces = [begun(0, "a", "f"), begun(0, "b", "f"), arguments(0, "{}"), begun(1, "c", "f"), arguments(1, "[]")]
    assert streamed(START, *pieces, end()).tool_calls == (
        ToolCall("a", "f", ""),
        ToolCall("b", "f", "{}"),
        ToolCall("c", "f", "[]"),
    )


def test_call_without_an_id_gets_one():
    calls = streamed(START, begun(0, "a", "f"), begun(1, None, "g"), end()).tool_calls
    assert [call.id for call in calls] == ["a", "call_1"]


def test_arguments_without_a_call_are_ignored():
    assert streamed(START, arguments(3, "{}"), text("a"), end()).parts == (TextPart("a"),)


# Content


def test_content_blocks_keep_their_order():
    reply = streamed(START, thought("a"), text("b", 1), thought("c", 2), text("d", 3), end())
    assert reply.parts == (
        ReasoningPart("a", origin="cohere/m"),
        TextPart("b"),
        ReasoningPart("c", origin="cohere/m"),
        TextPart("d"),
    )


def test_reasoning_origin_is_the_formats_model_unless_named():
    decoder = CohereChat("command").decoder()
    frames = COHERE.framer().feed(events([{"type": "message-start", "id": "r"}, thought("a"), end()]))
    reply = accumulate([delta for frame in frames for delta in decoder.feed(frame)] + decoder.finish())
    assert (reply.model, reply.parts) == ("command", (ReasoningPart("a", origin="cohere/command"),))


def test_citations_belong_to_their_text():
    source = {"type": "document", "id": "d1", "document": {"title": "A", "snippet": "so"}}
    two = [source, {"type": "tool", "id": "t:0", "tool_output": {"a": 1}}]
    cited = event("citation-start", 0, citations={"start": 0, "end": 2, "text": "ab", "sources": [source]})
    more = event("citation-start", 1, citations={"start": 1, "end": 3, "sources": two, "content_index": 0})
    late = event("citation-start", 2, citations={"start": 0, "end": 1, "sources": [], "type": "PLAN"})
    reply = streamed(
        START, text("abc"), cited, event("citation-end", 0), more, event("tool-plan-delta", tool_plan="x"), late, end()
    )
    assert reply.parts == (
        TextPart(
            "abcx",
            (
                Citation("d1", "A", "so", 0, 2),
                Citation("d1", "A", "so", 1, 3, {"sources": two}),
                Citation("", start=3, end=4, provider_metadata={"sources": []}),
            ),
        ),
    )


def test_citation_without_a_block_belongs_to_the_first_text():
    cited = {"start": 0, "end": 2, "text": "ab", "sources": [{"type": "document", "id": "d"}], "type": "TEXT_CONTENT"}
    numbered = [event("citation-start", number, citations=cited) for number in (0, 1)]
    reply = streamed(START, thought("Hm."), text("abc", 1), event("content-end", 1), *numbered, end())
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "abc"}]
    message = {"content": content, "citations": [cited, cited]}
    whole = COHERE.decode(response({"model": "m", "finish_reason": "COMPLETE", "message": message}))
    assert reply.parts == whole.parts
    assert reply.parts[1] == TextPart("abc", (Citation("d", start=0, end=2), Citation("d", start=0, end=2)))


def test_unknown_fields_of_texts_and_calls_are_kept():
    begins = event("content-start", 0, content={"type": "text", "text": "", "tone": "dry"})
    call = event("tool-call-start", 0, tool_calls={"id": "c", "type": "function", "function": {"name": "f"}, "by": "x"})
    reply = streamed(START, begins, text("a"), event("content-end", 0), call, end())
    assert reply.parts == (
        TextPart("a", provider_options={"cohere": {"tone": "dry"}}),
        ToolCall("c", "f", "", provider_options={"cohere": {"by": "x"}}),
    )
    done = Message.tool(ToolResult.text("c", "done"))
    said, _ = body_of(asked(Message("assistant", reply.parts), done))["messages"]
    assert (said["tool_calls"][0]["by"], "tone" in said) == ("x", False)
    assert [part.provider_options for part in streamed(START, begins, end()).parts] == []


def test_log_probabilities_of_all_events_are_concatenated():
    pieces = [{**text(t), "logprobs": {"text": t, "token_ids": [1]}} for t in "ab"]
    assert streamed(START, *pieces, end()).provider_metadata["logprobs"] == [
        {"text": "a", "token_ids": [1]},
        {"text": "b", "token_ids": [1]},
    ]


def test_missing_usage_is_none_and_fractions_are_ignored():
    assert streamed(START, text("a"), end()).usage == Usage()
    assert streamed(START, end(usage={"tokens": {"input_tokens": 1.5, "output_tokens": "2"}})).usage == Usage()


# Ends


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("TOOL_CALL", "tool_calls"),
        ("NEW", "unknown"),
        (None, "unknown"),
    ],
)
def test_finish_reason_is_mapped_and_kept(raw: str | None, reason: str):
    reply = streamed(START, text("a"), end(raw))
    assert (reply.finish_reason, reply.raw_finish_reason) == (reason, raw)


def test_truncated_stream_is_interrupted_after_the_partial_reply():
    found: list[Delta] = []
    with pytest.raises(StreamInterruptedError):
        for delta in decoded([events(WHOLE[:-1])]):
            found.append(delta)  # noqa: PERF402 - what came before the error is what counts
    assert accumulate(found).text == "I will ask, 日本 😀"


@pytest.mark.parametrize(
    "failure",
    [end("ERROR", error="it broke"), end("COMPLETE", error="it broke"), {"message": "it broke"}],
    ids=["reason", "error", "message"],
)
def test_error_event_is_typed_after_the_partial_reply(failure: Any):
    found: list[Delta] = []
    with pytest.raises(ProviderError, match="it broke"):
        for delta in decoded([events([START, text("Hel"), failure])]):
            found.append(delta)  # noqa: PERF402 - what came before the error is what counts
    assert accumulate(found).text == "Hel"


def test_timeout_finish_reason_is_a_typed_error_in_bodies_and_streams():
    with pytest.raises(RequestTimeoutError):
        streamed(START, text("a"), end("TIMEOUT"))
    with pytest.raises(RequestTimeoutError):
        COHERE.decode(response({"finish_reason": "TIMEOUT", "message": {"content": []}}))


def test_malformed_json_event_is_an_error_with_its_number():
    with pytest.raises(ServerError, match="event 2 of the stream is not JSON"):
        streamed(START, b"{", end())


def test_body_without_events_is_not_a_stream():
    with pytest.raises(ServerError, match="not an event stream"):
        list(decoded([b"<html>"]))


@pytest.mark.parametrize("odd", [{}, [], 5, {"type": "debug", "prompt": "x"}, {"type": "content-delta", "delta": 5}])
def test_unknown_events_are_skipped(odd: Any):
    assert streamed(START, text("a"), odd, end()).text == "a"


def test_character_split_between_events_is_joined_and_a_lone_surrogate_replaced():
    split_events = [json.dumps(text(piece)).encode() for piece in ("a\ud83d", "\ude00b\ud83d")]
    assert streamed(START, *split_events, end()).text == "a😀b\ufffd"
    call = [
        begun(0, "c", "f"),
        json.dumps(arguments(0, "\ud83d")).encode(),
        json.dumps(arguments(0, "\ude00")).encode(),
    ]
    assert streamed(START, *call, end()).tool_calls[0].arguments_text == "😀"
