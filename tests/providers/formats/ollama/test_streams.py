"""Streams as real servers send them."""

import base64
import json
from typing import Any

import pytest

from abstractcore.errors import (
    ContextOverflowError,
    OverloadedError,
    ProviderError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.schema import (
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
from tests.providers.formats.ollama.generated import PNG
from tests.providers.formats.ollama.wire import DONE, OLLAMA, called, decoded, line, lines, response, streamed

WHOLE = [
    line(thinking="Hm."),
    line(content="Grüße, "),
    line(content="日本 😀"),
    line(tool_calls=[called("f", {"a": 1}, id="c1")]),
    {**DONE, "prompt_eval_count": 3, "eval_count": 5, "total_duration": 9},
]


def test_stream_is_decoded_to_deltas_in_order():
    assert list(decoded([lines(WHOLE)])) == [
        ReplyStart(0, "m", "ollama"),
        ReasoningStart(1, 0, "ollama/m"),
        ReasoningDelta(2, 0, "Hm."),
        ReasoningEnd(3, 0),
        TextStart(4, 1),
        TextDelta(5, 1, "Grüße, "),
        TextDelta(6, 1, "日本 😀"),
        TextEnd(7, 1),
        ToolCallStart(8, 2, "c1", "f"),
        ToolCallDelta(9, 2, '{"a": 1}'),
        ToolCallEnd(10, 2),
        UsageDelta(11, Usage(3, 5)),
        ReplyEnd(12, "tool_calls", "stop", {"total_duration": 9}),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"], ids=["LF", "CRLF", "empty lines"])
def test_deltas_do_not_depend_on_chunk_boundaries(end: bytes):
    expected = list(decoded([lines(WHOLE[1:])]))
    for pieces in every_split(lines(WHOLE[1:], end)):
        assert list(decoded(pieces)) == expected


def test_last_line_without_line_end_is_read():
    assert accumulate(decoded([lines(WHOLE).rstrip()])) == streamed(*WHOLE)


def test_line_of_five_mebibytes_is_read():
    text = "x" * (5 * 1024 * 1024)
    stream = lines([line(content=text), DONE])
    assert accumulate(decoded(stream[i : i + 16_384] for i in range(0, len(stream), 16_384))).text == text


# Tool calls


def test_calls_without_ids_in_one_or_several_lines_get_ids():
    reply = streamed(line(tool_calls=[called("f", {}), called("f", {})]), line(tool_calls=[called("g", {})]), DONE)
    assert reply.tool_calls == (ToolCall("call_0", "f"), ToolCall("call_1", "f"), ToolCall("call_2", "g"))


def test_two_calls_with_one_index_and_two_ids_are_two_calls():
    calls: Any = [{"id": id, "function": {"index": 0, "name": "f", "arguments": {}}} for id in ("c1", "c2")]
    assert [call.id for call in streamed(line(tool_calls=calls), DONE).tool_calls] == ["c1", "c2"]


def test_two_calls_with_one_id_are_two_calls():
    calls = [called("f", {}, id="call_1"), called("g", {}, id="call_1"), called("h", {}, id="")]
    whole = {**DONE, "message": {"content": "", "tool_calls": calls}}
    reply = streamed(line(tool_calls=calls), DONE)
    assert [call.id for call in reply.tool_calls] == ["call_1", "call_1_", "call_2"]
    assert OLLAMA.decode(response(whole)).tool_calls == reply.tool_calls


def test_stop_with_tool_calls_becomes_tool_calls():
    reply = streamed(line(tool_calls=[called("f", {})]), DONE)
    assert (reply.finish_reason, reply.raw_finish_reason) == ("tool_calls", "stop")


def test_text_after_a_tool_call_joins_the_text_before_it():
    reply = streamed(line(content="a"), line(tool_calls=[called("f", {})]), line(content="b"), DONE)
    assert reply.parts == (TextPart("ab"), ToolCall("call_0", "f"))


@pytest.mark.parametrize("arguments", ["not json", '{"a": 1.10'])
def test_arguments_given_as_text_are_kept(arguments: str):
    (call,) = streamed(line(tool_calls=[called("f", arguments)]), DONE).tool_calls
    assert (call.arguments_text, call.arguments) == (arguments, None)


# Reasoning, images, usage


def test_reasoning_and_text_in_one_line_are_both_kept():
    assert streamed(line(thinking="a", content="b"), DONE).parts == (
        ReasoningPart("a", origin="ollama/m"),
        TextPart("b"),
    )


def test_reasoning_that_continues_after_text_is_one_part():
    reply = streamed(line(thinking="a"), line(content="x"), line(thinking="b"), line(content="y"), DONE)
    whole = OLLAMA.decode(response({**DONE, "message": {"thinking": "ab", "content": "xy"}}))
    assert reply.parts == whole.parts == (ReasoningPart("ab", origin="ollama/m"), TextPart("xy"))


def test_image_is_the_last_part():
    image = base64.b64encode(PNG).decode()
    reply = streamed(line(images=[image]), line(content="a"), DONE)
    assert [part.type for part in reply.parts] == ["text", "image"]
    with pytest.raises(ServerError, match="not base64"):
        streamed(line(images=["%"]), DONE)


def test_missing_usage_is_none_not_zero():
    assert streamed(line(content="a"), DONE).usage == Usage()


@pytest.mark.parametrize("count", ["5", True, 1.5, None])
def test_non_integer_count_is_ignored(count: Any):
    assert streamed({**DONE, "prompt_eval_count": count, "eval_count": 2}).usage == Usage(None, 2)


def test_log_probabilities_of_all_lines_are_concatenated():
    pieces = [{**line(content=t), "logprobs": [{"token": t}]} for t in "ab"]
    assert streamed(*pieces, DONE).provider_metadata["logprobs"] == [{"token": "a"}, {"token": "b"}]


# Ends


@pytest.mark.parametrize(
    ("raw", "reason"), [("stop", "stop"), ("length", "length"), ("load", "unknown"), (None, "unknown")]
)
def test_finish_reason_is_mapped_and_kept(raw: str | None, reason: str):
    reply = streamed(line(content="a"), {**DONE, "done_reason": raw})
    assert (reply.finish_reason, reply.raw_finish_reason) == (reason, raw)


def test_truncated_stream_is_interrupted_after_the_partial_reply():
    found: list[Delta] = []
    with pytest.raises(StreamInterruptedError):
        found.extend(decoded([lines(WHOLE[:3])]))
    decoder = OLLAMA.decoder()
    deltas = [delta for frame in OLLAMA.framer().feed(lines(WHOLE[:3])) for delta in decoder.feed(frame)]
    assert accumulate(deltas).text == "Grüße, 日本 😀"
    assert not decoder.complete


def test_empty_body_is_not_a_stream():
    with pytest.raises(ServerError, match="empty"):
        list(decoded([b""]))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("an error was encountered while running the model", ServerError),
        ("the prompt is longer than the context length currently available to the model", ContextOverflowError),
        ("server busy, please try again.  maximum pending requests exceeded", OverloadedError),
    ],
)
def test_error_line_is_typed_after_the_partial_reply(message: str, expected: type[ProviderError]):
    decoder = OLLAMA.decoder()
    deltas = decoder.feed(json.dumps(line(content="Hel")).encode())
    with pytest.raises(expected, match=message[:20]):
        decoder.feed(json.dumps({"error": message}).encode())
    assert accumulate(deltas).text == "Hel"


def test_malformed_json_line_is_an_error_with_its_number():
    with pytest.raises(ServerError, match="line 2 of the stream is not JSON") as caught:
        streamed(line(content="a"), b"{", DONE)
    assert caught.value.hint is None


def test_web_page_instead_of_a_stream_has_a_hint():
    with pytest.raises(ServerError, match="line 1") as caught:
        streamed(b"<html>")
    assert "URL" in (caught.value.hint or "")


@pytest.mark.parametrize("odd", [{}, [], 5, None, "x", {"message": 5}, {"message": {"content": 5, "tool_calls": 5}}])
def test_unknown_lines_are_skipped(odd: Any):
    assert streamed(line(content="a"), odd, DONE).text == "a"


# Characters cut in half


def test_character_split_between_lines_is_joined():
    split_lines = [b'{"message":{"content":"a\\ud83d"}}', b'{"message":{"content":"\\ude00b"}}']
    assert [d.text for d in decoded([lines([*split_lines, DONE])]) if isinstance(d, TextDelta)] == ["a", "😀b"]


def test_lone_surrogate_in_text_and_calls_is_replaced():
    call = b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":"\\ud83d"}}}]}}'
    reply = streamed(b'{"message":{"thinking":"a\\ud83d"}}', call, DONE)
    assert reply.reasoning == "a\ufffd"
    assert reply.tool_calls[0].arguments == {"a": "\ufffd"}
