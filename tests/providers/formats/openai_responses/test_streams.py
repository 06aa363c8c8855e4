"""The shapes of streams that servers send."""

import json
from typing import Any, get_args

import pytest
from openai.types.responses import ResponseError

from abstractcore.errors import (
    BadRequestError,
    ContentFilterError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.schema import (
    Citation,
    Delta,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    OpaquePart,
    PartDelta,
    ReasoningPart,
    TextPart,
    ToolCall,
    Usage,
    accumulate,
)
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.wire import (
    added,
    answered,
    begin,
    decoded,
    delta,
    done,
    end,
    events,
    function_call,
    message,
    streamed,
)

SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}}


def interrupted(*items: Any) -> tuple[list[Delta], ProviderError]:
    """What came of a stream before its error, and the error."""
    deltas: list[Delta] = []
    with pytest.raises(ProviderError) as caught:
        deltas += list(decoded([events(items)]))
    for piece in _until_error(items):
        deltas.append(piece)
    return deltas, caught.value


def _until_error(items: Any) -> list[Delta]:
    deltas: list[Delta] = []
    try:
        for piece in decoded([events(items)]):
            deltas.append(piece)  # noqa: PERF402 - an error ends it
    except ProviderError:
        return deltas
    return deltas


def test_two_tool_calls_are_two():
    first, second = function_call("c1", '{"a":1}'), function_call("c2", '{"b":2}')
    reply = streamed(
        begin(),
        added({**first, "arguments": ""}, 0),
        added({**second, "arguments": ""}, 1),
        delta("function_call_arguments", '{"a"', 0),
        delta("function_call_arguments", '{"b"', 1),
        delta("function_call_arguments", ":1}", 0),
        delta("function_call_arguments", ":2}", 1),
        done(first, 0),
        done(second, 1),
        end(first, second),
    )
    assert reply.parts == (ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "f", '{"b":2}'))
    assert reply.finish_reason == "tool_calls"


def test_call_without_an_id_gets_one():
    item = {"type": "function_call", "name": "f", "arguments": "{}"}
    assert streamed(begin(), added(item), done(item), end(item)).parts == (ToolCall("call_0", "f", "{}"),)


def test_texts_of_interleaved_items_are_separated():
    def piece(text: str, index: int) -> dict[str, Any]:
        return delta("output_text", text, index, content_index=0)

    note = {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": {}}
    pieces = (piece("One", 0), piece("Two", 1), piece(" and", 1), note, piece(" too", 0))
    assert streamed(begin(), *pieces, end()).text == "One tooTwo and"


def test_content_without_deltas_is_read_from_the_done_event():
    item, call = message("Hello there"), function_call("c1", '{"a":1}')
    reply = streamed(begin(), added(item), delta("output_text", "Hello"), done(item), done(call, 1), end(item, call))
    assert reply.parts == (TextPart("Hello there"), ToolCall("c1", "f", '{"a":1}'))


def test_items_only_in_the_last_event_are_read():
    assert streamed(begin(), end(message("all at once"))).parts == (TextPart("all at once"),)


def test_reasoning_keeps_order_id_and_encrypted_content():
    summaries = [{"type": "summary_text", "text": text} for text in ("one", "two")]
    item = {"type": "reasoning", "id": "rs_abc", "summary": summaries, "encrypted_content": "gAAA"}
    answer = message()
    pieces = [delta("reasoning_summary_text", text, summary_index=i) for i, text in enumerate(("one", "two"))]
    reply = streamed(begin(), added({**item, "summary": []}), *pieces, done(item), done(answer, 1), end(item, answer))
    origin = f"{PROVIDER}/m"
    assert reply.parts == (
        ReasoningPart("one", "rs_abc", None, origin),
        ReasoningPart("two", "rs_abc", "gAAA", origin),
        TextPart("hi"),
    )
    assert reply.parts == answered(item, answer).parts


def test_full_reasoning_text_is_reasoning():
    item = {"type": "reasoning", "id": "rs_abc", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    reply = streamed(begin(), delta("reasoning_text", "hm"), done(item), end(item))
    assert reply.parts == (ReasoningPart("hm", "rs_abc/content", None, f"{PROVIDER}/m"),)


def test_hidden_reasoning_is_kept():
    item = {"type": "reasoning", "id": "rs_abc", "summary": [], "encrypted_content": "gAAA"}
    assert streamed(begin(), added(item), done(item), end(item)).parts == (
        ReasoningPart("", "rs_abc", "gAAA", f"{PROVIDER}/m"),
    )


def test_annotations_are_citations_in_every_event():
    note = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2}
    annotation = {
        "type": "response.output_text.annotation.added",
        "output_index": 0,
        "content_index": 0,
        "annotation": note,
    }
    cited = message("hi", content=[{"type": "output_text", "text": "hi", "annotations": [note]}])
    expected = (TextPart("hi", (Citation("https://a", "A", start=0, end=2),)),)
    assert streamed(begin(), delta("output_text", "hi"), annotation, done(message()), end(message())).parts == expected
    assert streamed(begin(), delta("output_text", "hi"), annotation, done(cited), end(cited)).parts == expected


def test_refusal_is_text_with_a_finish_reason():
    item = message(content=[{"type": "refusal", "refusal": "No."}])
    reply = streamed(begin(), added(item), delta("refusal", "No."), done(item), end(item))
    assert (reply.text, reply.finish_reason) == ("No.", "refusal")


def test_hosted_tools_are_parts():
    pieces = [{"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"}]
    reply = streamed(begin(), added(SEARCH), *pieces, done(SEARCH), done(message(), 1), end(SEARCH, message()))
    call, text = reply.parts
    assert isinstance(call, HostedToolCall)
    assert (call.id, call.name, json.loads(call.arguments_text)) == ("ws_1", "web_search", {"action": SEARCH["action"]})
    assert text == TextPart("hi")


def test_last_partial_image_is_kept():
    item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAB"}
    partial = {
        "type": "response.image_generation_call.partial_image",
        "output_index": 0,
        "item_id": "ig_1",
        "partial_image_b64": "AAAA",
    }
    deltas = list(decoded([events([begin(), added(item), partial, done(item), end(item)])]))
    results = [d.part for d in deltas if isinstance(d, PartDelta) and isinstance(d.part, HostedToolResult)]
    assert [result.content[0].blob.data for result in results if isinstance(result.content[0], ImagePart)] == [
        b"\0\0\0",
        b"\0\0\1",
    ]
    assert accumulate(deltas).parts[1] == results[1]


def test_unknown_fields_are_kept():
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    assert streamed(begin(), added(item), done(item), end(item)).parts == (OpaquePart(PROVIDER, "compaction", item),)


@pytest.mark.parametrize(("stored", "id"), [(True, {"id": "msg_abc"}), (False, {})])
def test_phase_and_stored_id_of_a_message_are_options_of_its_text(stored: bool, id: dict[str, str]):
    item = message(phase="commentary")
    said = (TextPart("hi", provider_options={PROVIDER: {**id, "phase": "commentary"}}),)
    last = end(item, store=stored)
    begun = streamed(begin(stored), added({**item, "content": []}), delta("output_text", "hi"), done(item), last)
    late = streamed(begin(stored), delta("output_text", "hi"), done(item), last)
    assert begun.parts == said
    assert late.parts == said
    assert answered(item, store=stored).parts == said


def test_raw_reasoning_is_marked_as_item_content():
    item = {"type": "reasoning", "id": "rs_abc", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    pieces = [delta("reasoning_text", piece, content_index=0) for piece in ("H", "m.")]
    reply = streamed(begin(), added({**item, "content": []}), *pieces, done(item), end(item))
    assert reply.parts == (ReasoningPart("Hm.", "rs_abc/content", None, f"{PROVIDER}/m"),)
    assert reply.parts == answered(item).parts


def test_computer_action_is_a_tool_call():
    item = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "wait"},
    }
    reply = streamed(begin(), added(item), done(item), end(item))
    (call,) = reply.tool_calls
    assert (call.id, call.name, call.arguments) == ("c", "computer", {"action": {"type": "wait"}})
    assert reply.finish_reason == "tool_calls"
    assert reply.parts == answered(item).parts


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({"input_tokens": 5, "output_tokens": 7}, Usage(5, 7)),
        (
            {
                "input_tokens": 5,
                "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
                "output_tokens": 7,
                "output_tokens_details": {"reasoning_tokens": 6},
            },
            Usage(5, 7, cached=3, cache_written=1, reasoning=6),
        ),
    ],
)
def test_usage_is_read_once_and_missing_is_none(usage: Any, expected: Usage):
    assert streamed(begin(), done(message()), end(message(), usage=usage)).usage == expected


@pytest.mark.parametrize(
    ("details", "reason", "raw"),
    [
        ({"reason": "max_output_tokens"}, "length", "max_output_tokens"),
        ({"reason": "content_filter"}, "content_filter", "content_filter"),
        ({"reason": "max_messages"}, "length", "max_messages"),
        ({"reason": "steered"}, "paused", "steered"),
        ({"reason": "odd"}, "unknown", "odd"),
        (None, "unknown", "incomplete"),
    ],
)
def test_incomplete_reply_has_its_reason(details: Any, reason: str, raw: str):
    last = {**end(message(), status="incomplete", incomplete_details=details), "type": "response.incomplete"}
    reply = streamed(begin(), done(message()), last)
    assert (reply.finish_reason, reply.raw_finish_reason, reply.text) == (reason, raw, "hi")


@pytest.mark.parametrize(
    ("event", "expected", "said"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, RateLimitError, "slow"),
        ({"type": "error", "code": "server_is_overloaded", "message": "busy"}, OverloadedError, "busy"),
        ({"type": "error", "error": {"type": "server_error", "message": "oh"}}, ServerError, "oh"),
        ({"error": {"type": "server_error", "message": "oh"}}, ServerError, "oh"),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "server_error", "message": "m"}},
            },
            ServerError,
            "m",
        ),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "bio_policy", "message": "m"}},
            },
            ContentFilterError,
            "m",
        ),
        ({"type": "response.failed"}, ServerError, "the provider reported an error in its response"),
    ],
)
def test_error_event_is_typed_after_the_partial_reply(event: Any, expected: type[ProviderError], said: str):
    deltas, error = interrupted(begin(), delta("output_text", "so far"), event)
    assert type(error) is expected
    assert error.message == said
    assert accumulate(deltas).text == "so far"


FAILURES: dict[str, type[ProviderError]] = {
    "server_error": ServerError,
    "vector_store_timeout": ServerError,
    "rate_limit_exceeded": RateLimitError,
    "bio_policy": ContentFilterError,
    "misalignment_policy_violation": ContentFilterError,
    "image_content_policy_violation": ContentFilterError,
}
"""The errors of codes; all others are faults of the request."""


@pytest.mark.parametrize("code", get_args(ResponseError.model_fields["code"].annotation))
def test_every_code_of_a_failed_response_has_its_error(code: str):
    failed = {"status": "failed", "error": {"code": code, "message": "m"}}
    with pytest.raises(ProviderError) as caught:
        answered(**failed)
    assert type(caught.value) is FAILURES.get(code, BadRequestError)
    _, error = interrupted(begin(), {"type": "response.failed", "response": failed})
    assert type(error) is FAILURES.get(code, BadRequestError)


def test_truncated_stream_is_interrupted_after_the_partial_reply():
    deltas, error = interrupted(begin(), delta("output_text", "so far"))
    assert isinstance(error, StreamInterruptedError)
    assert accumulate(deltas).text == "so far"


def test_malformed_json_event_is_named():
    _, error = interrupted(begin(), b"{broken")
    assert isinstance(error, ServerError)
    assert "event 2" in error.message


def test_body_that_is_not_a_stream_is_an_error():
    with pytest.raises(ServerError, match="not an event stream"):
        list(decoded([b"<html></html>"]))


def test_unknown_events_and_keepalives_are_skipped():
    odd: list[Any] = [{"type": "response.new.thing", "output_index": 7}, {"type": 5}, {}, [], b"[DONE]"]
    assert streamed(begin(), *odd, delta("output_text", "hi"), done(message()), end(message())).text == "hi"


def test_nothing_is_read_after_the_last_event():
    assert streamed(begin(), done(message()), end(message()), b"{broken").text == "hi"


def test_surrogate_pair_split_between_events_is_joined():
    pieces = [
        b'{"type":"response.output_text.delta","output_index":0,"delta":"\\ud83d"}',
        b'{"type":"response.output_text.delta","output_index":0,"delta":"\\ude00"}',
    ]
    assert streamed(begin(), *pieces, done(message("\U0001f600")), end(message("\U0001f600"))).text == "\U0001f600"
    lone = [begin(), pieces[0], {"type": "response.completed", "response": {"status": "completed", "model": "m"}}]
    assert streamed(*lone).text == "\ufffd"
