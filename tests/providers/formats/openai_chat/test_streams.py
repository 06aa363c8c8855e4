"""Streams as real servers send them."""

import base64
import json
from typing import Any

import pytest

from abstractcore.errors import (
    ContentFilterError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.schema import (
    AudioPart,
    Citation,
    Delta,
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
from tests.core.framing.splits import every_split
from tests.providers.formats.openai_chat.wire import CHAT, called, chunk, decoded, events, fragment, response, streamed

WHOLE = [
    chunk(role="assistant", content=""),
    chunk(reasoning_content="Hm."),
    chunk(content="Grüße, "),
    chunk(content="日本 😀"),
    called(fragment('{"a', index=0, id="c1", name="f")),
    called(fragment('": 1}', index=0)),
    chunk("tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 5}),
]
WHOLE_PARTS = (
    ReasoningPart("Hm.", origin="openai/m"),
    TextPart("Grüße, 日本 😀"),
    ToolCall("c1", "f", '{"a": 1}'),
)
STOP = chunk("stop")


def test_stream_is_decoded_to_deltas_in_order():
    deltas = list(decoded([events(WHOLE)]))
    assert deltas == [
        ReplyStart(0, "m", "openai", "r"),
        ReasoningStart(1, 0, "openai/m"),
        ReasoningDelta(2, 0, "Hm."),
        ReasoningEnd(3, 0),
        TextStart(4, 1),
        TextDelta(5, 1, "Grüße, "),
        TextDelta(6, 1, "日本 😀"),
        TextEnd(7, 1),
        ToolCallStart(8, 3, "c1", "f"),
        ToolCallDelta(9, 3, '{"a'),
        ToolCallDelta(10, 3, '": 1}'),
        UsageDelta(11, Usage(3, 5)),
        ToolCallEnd(12, 3),
        ReplyEnd(13, "tool_calls", "tool_calls", {"created": 1}),
    ]


# Tool calls


def test_two_tool_calls_with_one_index_and_two_ids_are_two_calls():
    reply = streamed(
        called(fragment('{"a"', index=0, id="c1", name="f")),
        called(fragment(":1}", index=0, id="c1")),
        called(fragment("{}", index=0, id="c2", name="f")),
        STOP,
    )
    assert reply.tool_calls == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "f", "{}"))


def test_fragments_of_two_calls_with_one_index_match_by_id():
    reply = streamed(
        called(fragment("{", index=0, id="c1", name="f")),
        called(fragment("[", index=0, id="c2", name="g")),
        called(fragment("}", index=0, id="c1")),
        called(fragment("]", index=0, id="c2")),
        STOP,
    )
    assert reply.tool_calls == (ToolCall("c1", "f", "{}"), ToolCall("c2", "g", "[]"))


def test_interleaved_parallel_calls_are_separated_by_index():
    reply = streamed(
        called(fragment(index=0, id="c1", name="f"), fragment(index=1, id="c2", name="g")),
        called(fragment('{"a"', index=0)),
        called(fragment('{"b"', index=1)),
        called(fragment(":1}", index=0), fragment(":2}", index=1)),
        STOP,
    )
    assert reply.tool_calls == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "g", '{"b":2}'))


def test_call_with_its_id_in_every_fragment_is_one_call():
    pieces = [called(fragment(piece, index=0, id="c1", name="f")) for piece in ("{", '"a"', ":1}")]
    assert streamed(*pieces, STOP).tool_calls == (ToolCall("c1", "f", '{"a":1}'),)


def test_call_with_null_or_empty_ids_in_later_fragments_is_one_call():
    reply = streamed(
        called(fragment("{", index=0, id="c1", name="f", type="function")),
        called({"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": '"a"'}}),
        called({"index": 0, "id": "", "function": {"name": "", "arguments": ":1}"}}),
        STOP,
    )
    assert reply.tool_calls == (ToolCall("c1", "f", '{"a":1}'),)


def test_calls_without_ids_get_ids():
    reply = streamed(
        called(fragment("{", index=0, name="f")),
        called(fragment("}", index=0)),
        called(fragment("{}", index=1, name="g")),
        STOP,
    )
    assert reply.tool_calls == (ToolCall("call_0", "f", "{}"), ToolCall("call_1", "g", "{}"))


def test_stream_and_body_generate_the_same_ids():
    calls = [{"function": {"name": "f", "arguments": "{}"}}, {"id": "x", "function": {"name": "g", "arguments": "{}"}}]
    whole = CHAT.decode(response({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "stop"}]}))
    assert streamed(called(*calls), STOP).tool_calls == whole.tool_calls
    assert [call.id for call in whole.tool_calls] == ["call_0", "x"]


def test_calls_without_index_and_id_are_separated_by_name():
    reply = streamed(called(fragment("{}", name="f"), fragment("{", name="f")), called(fragment("}")), STOP)
    assert reply.tool_calls == (ToolCall("call_0", "f", "{}"), ToolCall("call_1", "f", "{}"))


def test_late_id_does_not_start_another_call():
    reply = streamed(called(fragment("{", index=0, name="f")), called(fragment("}", index=0, id="late")), STOP)
    assert reply.tool_calls == (ToolCall("call_0", "f", "{}"),)


def test_id_of_any_length_is_kept():
    assert streamed(called(fragment("{}", index=0, id="x" * 300, name="f")), STOP).tool_calls[0].id == "x" * 300


def test_invalid_json_arguments_are_kept():
    (call,) = streamed(called(fragment('{"a": 1.10, "b', index=0, id="c", name="f")), STOP).tool_calls
    assert call.arguments_text == '{"a": 1.10, "b'
    assert call.arguments is None
    assert call.arguments_error


def test_text_after_a_tool_call_joins_the_text_before_it():
    reply = streamed(chunk(content="a"), called(fragment("{}", index=0, id="c", name="f")), chunk(content="b"), STOP)
    assert reply.parts == (TextPart("ab"), ToolCall("c", "f", "{}"))


# Reasoning


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_separate_from_the_answer(field: str):
    reply = streamed(chunk(**{field: "Let me "}), chunk(**{field: "see."}), chunk(content="42"), STOP)
    assert reply.parts == (ReasoningPart("Let me see.", origin="openai/m"), TextPart("42"))
    assert (reply.text, reply.reasoning) == ("42", "Let me see.")


def test_reasoning_under_both_names_is_read_once():
    assert streamed(chunk(reasoning="x", reasoning_content="x"), STOP).reasoning == "x"


def test_reasoning_and_text_in_one_chunk_are_both_kept():
    assert streamed(chunk(content="b", reasoning_content="a"), STOP).parts == (
        ReasoningPart("a", origin="openai/m"),
        TextPart("b"),
    )


def test_reasoning_that_continues_after_text_is_one_part():
    reply = streamed(chunk(reasoning="a"), chunk(content="x"), chunk(reasoning="b"), chunk(content="y"), STOP)
    message = {"content": "xy", "reasoning": "ab"}
    whole = CHAT.decode(response({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}))
    assert reply.parts == whole.parts == (ReasoningPart("ab", origin="openai/m"), TextPart("xy"))


# Usage

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 50,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 20, "audio_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 2},
}
COUNTED = Usage(100, 50, cached=60, cache_written=20, reasoning=30, input_audio=1, output_audio=2)


def test_usage_in_the_last_choice_chunk_is_read():
    assert streamed(chunk(content="a"), chunk("stop", usage=USAGE)).usage == COUNTED


def test_usage_after_the_last_choice_is_read():
    assert streamed(chunk(content="a"), STOP, {"choices": [], "usage": USAGE}).usage == COUNTED


def test_usage_in_every_chunk_counts_once():
    growing = [chunk(content="a", usage={"prompt_tokens": 100, "completion_tokens": n}) for n in (1, 2)]
    assert streamed(*growing, chunk("stop", usage=USAGE)).usage == COUNTED


def test_null_usage_is_ignored():
    nothing = {"choices": [], "usage": None}
    assert streamed(nothing, chunk("stop", usage=USAGE), nothing, {"choices": [], "usage": {}}).usage == COUNTED


def test_missing_usage_is_none_not_zero():
    assert streamed(chunk(content="a"), STOP).usage == Usage()
    assert Usage().input is None


@pytest.mark.parametrize("usage", [{"prompt_tokens": "5"}, {"prompt_tokens": True, "completion_tokens": 1.5}, [1], "5"])
def test_non_integer_counts_are_ignored(usage: Any):
    assert streamed(chunk("stop", usage=usage)).usage == Usage()


# Errors


def test_error_event_is_typed_after_the_partial_reply():
    failure = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    found: list[Delta] = []
    with pytest.raises(RateLimitError, match="slow down") as caught:
        found.extend(decoded([events([chunk(content="Hel"), failure, STOP])]))
    assert caught.value.retryable
    text = accumulate(_before_the_error([chunk(content="Hel"), failure])).text
    assert text == "Hel"


def _before_the_error(chunks: list[Any]) -> list[Delta]:
    found: list[Delta] = []
    with pytest.raises(ProviderError):
        for delta in decoded([events(chunks)]):
            found.append(delta)  # noqa: PERF402 - what came before the error is what counts
    return found


@pytest.mark.parametrize(
    ("failure", "error", "message"),
    [
        ({"error": {"message": "no", "code": 429}}, RateLimitError, "no"),
        ({"error": {"message": "busy", "code": 529}}, OverloadedError, "busy"),
        ({"error": {"message": "busy", "type": "overloaded_error"}}, OverloadedError, "busy"),
        ({"error": {"message": "bad", "code": "content_filter"}}, ContentFilterError, "bad"),
        ({"error": "it broke"}, ServerError, "it broke"),
        ({"error": {}}, ServerError, "reported an error"),
        ({"error": ["?"]}, ServerError, r"\?"),
    ],
)
def test_error_event_is_classified_by_cause(failure: Any, error: type[ProviderError], message: str):
    with pytest.raises(error, match=message) as caught:
        streamed(chunk(content="a"), failure)
    assert type(caught.value) is error


def test_event_named_error_is_an_error():
    stream = events([chunk(content="a")], done=False) + b'event: error\ndata: {"message": "it broke"}\n\n'
    with pytest.raises(ServerError, match="it broke"):
        list(decoded([stream]))


def test_null_error_is_ignored():
    assert streamed({**chunk(content="a"), "error": None}, {**STOP, "error": None}).text == "a"


@pytest.mark.parametrize("done", [True, False], ids=["with the end mark", "without"])
def test_end_without_a_finish_reason_is_an_interruption(done: bool):
    with pytest.raises(StreamInterruptedError, match="without a finish reason"):
        list(decoded([events([chunk(content="a")], done=done)]))


def test_stream_cut_mid_event_is_an_interruption():
    with pytest.raises(StreamInterruptedError):
        list(decoded([events([chunk(content="a"), STOP], done=False)[:-20]]))


def test_stream_without_events_is_an_error():
    with pytest.raises(ServerError, match="not an event stream"):
        list(decoded([b"<html></html>\n"]))


def test_unknown_finish_reason_is_kept():
    reply = streamed(chunk(content="a"), chunk("eos_token"))
    assert (reply.finish_reason, reply.raw_finish_reason) == ("unknown", "eos_token")


@pytest.mark.parametrize(
    ("raw", "ours"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("error", "error"),
        ("insufficient_system_resource", "error"),
    ],
)
def test_finish_reason_is_mapped(raw: str, ours: str):
    reply = streamed(chunk(raw))
    assert (reply.finish_reason, reply.raw_finish_reason) == (ours, raw)


def test_malformed_json_event_is_an_error_with_its_position():
    with pytest.raises(ServerError, match=r"event 3 of the stream is not JSON: b'\{\"choices") as caught:
        streamed(chunk(content="a"), chunk(content="b"), b'{"choices": [', STOP)
    assert caught.value.retryable


def test_event_that_violates_the_schema_is_an_error_with_its_position():
    deep = json.loads("[" * 120 + "]" * 120)
    with pytest.raises(ServerError, match="does not match the schema"):
        streamed({**chunk(content="a"), "x": deep}, STOP)
    cited = {"url_citation": {"url": "\ud800"}}
    with pytest.raises(ServerError, match="event 2 of the stream does not match the schema"):
        streamed(chunk(content="a"), chunk(annotations=[cited]), STOP)


@pytest.mark.parametrize(
    "odd", [[], 5, None, "x", {}, {"choices": 5}, {"choices": [None]}, {"choices": [{"delta": 5}]}, chunk(content=5)]
)
def test_unknown_events_are_skipped(odd: Any):
    assert streamed(chunk(content="a"), odd, STOP).text == "a"


# Bytes


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("space", [b" ", b""], ids=["space", "no space"])
def test_deltas_do_not_depend_on_chunk_boundaries(end: bytes, space: bytes):
    stream = events(WHOLE[:2] + WHOLE[3:5] + [STOP], end=end, space=space)
    expected = list(decoded([events(WHOLE[:2] + WHOLE[3:5] + [STOP])]))
    for pieces in every_split(stream):
        assert list(decoded(pieces)) == expected


def test_sse_syntax_variants_give_the_same_deltas():
    plain = events(WHOLE)
    lines = plain.replace(b"data: {", b": keep-alive\n\ndata: {\ndata: ").replace(
        b"data: [DONE]", b"data:\n\n: x\ndata: [DONE]"
    )
    assert list(decoded([b"\xef\xbb\xbf" + lines])) == list(decoded([plain]))


def test_event_that_begins_with_a_byte_order_mark_is_read():
    assert streamed(b"\xef\xbb\xbf" + json.dumps(chunk(content="a")).encode(), STOP).text == "a"


def test_event_of_five_mebibytes_is_read():
    text = "x" * (5 * 1024 * 1024)
    stream = events([chunk(content=text), STOP])
    pieces = [stream[i : i + 16_384] for i in range(0, len(stream), 16_384)]
    assert accumulate(decoded(pieces)).text == text


def test_events_after_done_are_ignored():
    assert accumulate(decoded([events(WHOLE) + b"data: [DONE]\n\n"])).parts == WHOLE_PARTS


# Characters cut in half


def test_character_split_between_events_is_joined():
    split_events = [
        b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}',
        b'{"choices":[{"delta":{"content":"\\ude00b"}}]}',
    ]
    deltas = list(decoded([events([*split_events, STOP])]))
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["a", "😀b"]


def test_characters_split_in_reasoning_and_arguments_are_joined():
    half, other = '"\\ud83d"', '"\\ude00"'
    pieces = [
        f'{{"choices":[{{"delta":{{"reasoning":{half}}}}}]}}',
        f'{{"choices":[{{"delta":{{"reasoning":{other}}}}}]}}',
        f'{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"f","arguments":{half}}}}}]}}}}]}}',
        f'{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":{other}}}}}]}}}}]}}',
    ]
    reply = streamed(*(piece.encode() for piece in pieces), STOP)
    assert (reply.reasoning, reply.tool_calls[0].arguments_text) == ("😀", "😀")


@pytest.mark.parametrize(("field", "number"), [("content", 1), ("reasoning", 0)], ids=["text", "reasoning"])
def test_lone_surrogate_at_the_end_is_replaced(field: str, number: int):
    half = f'{{"choices":[{{"delta":{{"{field}":"\\ud83d"}}}}]}}'.encode()
    deltas = list(decoded([events([half, STOP])]))
    (written,) = [delta for delta in deltas if isinstance(delta, TextDelta | ReasoningDelta)]
    assert (written.text, written.block) == ("\ufffd", number)
    (part,) = accumulate(deltas).parts
    assert type(part) is (TextPart if field == "content" else ReasoningPart)


def test_unpaired_surrogate_is_replaced():
    texts = [
        b'{"choices":[{"delta":{"content":"\\ud83d"}}]}',
        chunk(content="a"),
        b'{"choices":[{"delta":{"content":"\\ude00"}}]}',
    ]
    assert streamed(*texts, STOP).text == "\ufffda\ufffd"


def test_lone_surrogates_in_names_and_metadata_are_replaced():
    call = b'{"id":"\\ud83d","function":{"name":"\\ud83d"}}'
    choices = b'[{"delta":{"tool_calls":[' + call + b"]}}]"
    head = b'{"id":"\\ud83d","model":"\\ud83d","x":"\\ud83d","choices":' + choices + b"}"
    reply = streamed(head, STOP)
    assert (reply.id, reply.model, reply.provider_metadata["x"]) == ("\ufffd", "\ufffd", "\ufffd")
    assert reply.tool_calls == (ToolCall("\ufffd", "\ufffd", ""),)


# The rest of a reply


def test_refusal_is_text_with_a_finish_reason():
    reply = streamed(chunk(refusal="I can"), chunk(refusal="not."), STOP)
    assert (reply.text, reply.finish_reason, reply.raw_finish_reason) == ("I cannot.", "refusal", "stop")


def test_empty_refusal_with_text_is_ignored():
    assert streamed(chunk(content="a", refusal=""), chunk("stop", content="", refusal="")).finish_reason == "stop"


def test_chunked_audio_is_one_part():
    pieces = [
        {"id": "a1"},
        {"transcript": "Hel"},
        {"data": _base64(b"so")},
        {"transcript": "lo", "data": _base64(b"und")},
    ]
    (part,) = streamed(*(chunk(audio=piece) for piece in pieces), STOP).parts
    assert isinstance(part, AudioPart)
    assert (part.id, part.transcript, part.blob.read()) == ("a1", "Hello", b"sound")


def test_invalid_base64_audio_is_an_error():
    with pytest.raises(ServerError, match="not base64"):
        streamed(chunk(audio={"data": "%"}), STOP)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_citations_after_the_text_belong_to_it():
    note = {
        "type": "url_citation",
        "url_citation": {"url": "https://a", "title": "A", "start_index": 0, "end_index": 2},
    }
    reply = streamed(
        chunk(content="abc"), called(fragment("{}", index=0, id="c", name="f")), chunk(annotations=[note]), STOP
    )
    assert reply.parts[0] == TextPart("abc", (Citation("https://a", "A", start=0, end=2),))


def test_log_probabilities_of_all_chunks_are_concatenated():
    pieces = [chunk(content=t, logprobs={"content": [{"token": t}], "refusal": None}) for t in "ab"]
    metadata = streamed(*pieces, STOP).provider_metadata
    assert metadata["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}], "refusal": None}


def test_unknown_fields_are_metadata():
    first = {**chunk(content="a"), "system_fingerprint": "fp", "service_tier": None}
    last = {**chunk("stop"), "timings": {"predicted_ms": 1.5}}
    assert streamed(first, last).provider_metadata == {
        "created": 1,
        "system_fingerprint": "fp",
        "timings": {"predicted_ms": 1.5},
    }


def test_infinity_in_metadata_does_not_lose_the_answer():
    last = b'{"x": -Infinity, "choices": [{"finish_reason": "stop", "logprobs": {"content": [{"logprob": NaN}]}}]}'
    reply = streamed(chunk(content="a"), last)
    assert reply.text == "a"
    assert reply.provider_metadata["logprobs"] == {"content": [{"logprob": None}]}


def test_only_the_first_choice_is_read():
    first, second = chunk(content="a")["choices"][0], {**chunk(content="b")["choices"][0], "index": 1}
    both, late = {**chunk(), "choices": [second, first]}, {**chunk(), "choices": [second]}
    reply = streamed(both, late, STOP, {**chunk(), "choices": [{**second, "finish_reason": "length"}]})
    assert (reply.text, reply.finish_reason) == ("a", "stop")
