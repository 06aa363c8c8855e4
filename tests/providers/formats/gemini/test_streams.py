"""Streams as Google's servers send them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from abstractcore.errors import (
    ContentFilterError,
    InvalidInputError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
)
from abstractcore.schema import (
    AudioPart,
    Citation,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelReply,
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
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
    accumulate,
    deltas_of,
)
from abstractcore.testing import check_reply_losses, check_stream
from tests.core.framing.splits import every_split
from tests.providers.formats.gemini.wire import GEMINI, body_of, call, chunk, decoded, events, response, streamed, whole

SIGNATURE = "U2lnbmVk"
CALL = {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1.5}}, "thoughtSignature": SIGNATURE}
WHOLE = [
    chunk({"text": "Hm.", "thought": True}),
    chunk({"text": "Grüße, "}),
    chunk({"text": "日本 😀"}),
    chunk(CALL, finish="STOP", usage={"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 5}),
]
END = chunk(finish="STOP")


def test_stream_is_decoded_to_deltas_in_order():
    assert list(decoded([events(WHOLE)])) == [
        ReplyStart(0, "m", "google", "r"),
        ReasoningStart(1, 0, "google/m"),
        ReasoningDelta(2, 0, "Hm."),
        ReasoningEnd(3, 0),
        TextStart(4, 1),
        TextDelta(5, 1, "Grüße, "),
        TextDelta(6, 1, "日本 😀"),
        TextEnd(7, 1),
        ToolCallStart(8, 2, "c1", "f"),
        ToolCallDelta(9, 2, '{"a": 1.5}'),
        ToolCallEnd(10, 2, SIGNATURE),
        UsageDelta(11, Usage(3, 7, reasoning=5)),
        ReplyEnd(12, "tool_calls", "STOP"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_deltas_do_not_depend_on_chunk_boundaries(end: bytes):
    stream = events(WHOLE, end=end)
    expected = list(decoded([stream]))
    for pieces in every_split(stream):
        assert list(decoded(pieces)) == expected


def test_two_calls_with_equal_or_missing_ids_are_two_calls():
    calls = [{"functionCall": {"name": "f", "id": id}} for id in ("c", "c", "")]
    reply = streamed(chunk(*calls), chunk({"functionCall": {"name": "g"}}), END)
    assert [(call.id, call.name) for call in reply.tool_calls] == [
        ("c", "f"),
        ("call_1", "f"),
        ("call_2", "f"),
        ("call_3", "g"),
    ]


def test_arguments_keep_their_original_text():
    odd = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{ "b":1.10, "a":1e2 }}}]},'
    reply = streamed(odd + b'"finishReason":"STOP"}]}')
    assert reply.tool_calls[0].arguments_text == '{ "b":1.10, "a":1e2 }'
    assert reply.tool_calls[0].arguments == {"b": 1.1, "a": 100.0}


def test_thoughts_in_several_chunks_are_one_part_with_the_final_signature():
    pieces = ({"text": "Let me ", "thought": True}, {"text": "see.", "thought": True})
    signed = {"text": "", "thought": True, "thoughtSignature": SIGNATURE}
    reply = streamed(*map(chunk, (*pieces, signed, {"text": "42"})), END)
    assert reply.parts == (ReasoningPart("Let me see.", SIGNATURE, origin="google/m"), TextPart("42"))


def test_signature_without_text_is_kept_after_the_text():
    reply = streamed(
        chunk({"text": "4"}), chunk({"text": "2"}), chunk({"text": "", "thoughtSignature": SIGNATURE}), END
    )
    signed = whole({"text": "42", "thoughtSignature": SIGNATURE})
    assert reply.parts == signed.parts == (TextPart("42"), ReasoningPart("", SIGNATURE, origin="google/m"))


@pytest.mark.parametrize("alone", [{"text": "", "thoughtSignature": SIGNATURE}, {"thoughtSignature": SIGNATURE}])
def test_signature_alone_after_a_thought_is_a_part_of_its_own(alone: dict[str, str]):
    thought = {"text": "Hm.", "thought": True}
    expected = (ReasoningPart("Hm.", origin="google/m"), ReasoningPart("", SIGNATURE, origin="google/m"))
    assert whole(thought, alone).parts == expected
    assert streamed(chunk(thought), chunk(alone), END).parts == expected


def test_signature_alone_after_a_thought_is_rendered_alike_in_a_stream_and_a_body():
    reply = ModelReply((ReasoningPart("Hm."), ReasoningPart("", SIGNATURE)), "stop", provider="google")
    check_stream(GEMINI, reply)


def test_chunk_without_text_does_not_begin_a_rendered_part():
    options = {"google": {"partMetadata": {"n": 1}}}
    reply = ModelReply((TextPart("a", provider_options=options),), "stop", provider="google")
    start, rest = deltas_of(reply)[:2], deltas_of(reply)[2:]
    check_stream(GEMINI, reply, [*start, TextDelta(2, 0, ""), *rest])


def test_texts_around_a_signature_are_not_joined():
    reply = streamed(chunk({"text": "a", "thoughtSignature": SIGNATURE}), chunk({"text": "b"}), END)
    assert [type(part) for part in reply.parts] == [TextPart, ReasoningPart, TextPart]


def test_finish_reason_in_every_chunk_does_not_end_the_stream():
    assert streamed(chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="STOP")).text == "ab"


def test_usage_counts_are_cumulative():
    counts = [{"promptTokenCount": 5, "candidatesTokenCount": n, "cachedContentTokenCount": 4} for n in (1, 2, 3)]
    deltas = list(decoded([events([chunk({"text": "a"}, usage=usage) for usage in counts] + [END])]))
    assert accumulate(deltas).usage == Usage(5, 3, cached=4)


def test_missing_counts_are_none():
    assert streamed(chunk({"text": "a"}), END).usage == Usage()


def test_audio_and_tool_prompt_tokens_are_counted():
    usage = {
        "promptTokenCount": 5,
        "toolUsePromptTokenCount": 7,
        "thoughtsTokenCount": 9,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}, {"modality": "AUDIO", "tokenCount": 4}],
        "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 3}],
    }
    assert streamed(chunk({"text": "a"}, usage=usage), END).usage == Usage(
        12, 9, reasoning=9, input_audio=4, output_audio=3
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}, OverloadedError),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down"}, RateLimitError),
        ({"code": 529, "message": "odd"}, OverloadedError),
    ],
)
def test_error_mid_stream_is_typed(error: dict[str, Any], expected: type[ProviderError]):
    deltas: list[Any] = []
    with pytest.raises(expected, match=error["message"]) as caught:
        deltas.extend(decoded([events([chunk({"text": "a"}), {"error": error}])]))
    assert type(caught.value) is expected


def test_stream_of_a_list_with_an_error_is_typed():
    with pytest.raises(OverloadedError):
        streamed([{"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}])


def bare(data: Any, end: str = "\n") -> bytes:
    """JSON as the server prints it into a stream, in no event."""
    return json.dumps(data, indent=2).replace("\n", end).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("listed", [False, True], ids=["object", "list"])
def test_bare_json_error_is_typed_after_the_partial_reply(end: str, listed: bool):
    error = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}
    stream = events([chunk({"text": "a"})]) + bare([error] if listed else error, end)
    for pieces in ([stream], [stream + b"\r\n"], [stream[i : i + 1] for i in range(len(stream))]):
        deltas: list[Any] = []
        with pytest.raises(OverloadedError, match="overloaded"):
            for delta in decoded(pieces):
                deltas.append(delta)  # noqa: PERF402 - what came before the error is what counts
        assert accumulate(deltas).text == "a"


def test_list_of_chunks_without_events_is_a_stream():
    whole_list = bare([chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")])
    assert accumulate(decoded([whole_list])).text == "ab"
    with pytest.raises(OverloadedError):
        list(decoded([bare([chunk({"text": "a"}), {"error": {"code": 503, "status": "UNAVAILABLE"}}])]))


def test_truncated_bare_json_is_an_error():
    with pytest.raises(ServerError, match="event 2 of the stream is not JSON"):
        list(decoded([events([chunk({"text": "a"})]) + b'{\n  "error": {\n']))


def test_character_split_between_chunks_is_joined_and_a_lone_surrogate_replaced():
    split_chunks = [json.dumps(chunk({"text": piece})).encode() for piece in ("a\ud83d", "\ude00b\ud83d")]
    assert streamed(*split_chunks, END).text == "a😀b\ufffd"
    thought = [json.dumps(chunk({"text": t, "thought": True})).encode() for t in ("\ud83d", "\ude00")]
    reply = streamed(*thought, split_chunks[0], chunk(CALL), END)
    assert [getattr(part, "text", "") for part in reply.parts] == ["😀", "a\ufffd", ""]
    named = json.dumps(chunk({"text": "a"}, finish="STOP", finishMessage="\ud83d")).encode()
    assert streamed(named).provider_metadata["finishMessage"] == "\ufffd"


RATE = "audio/L16;codec=pcm;rate=24000"


def sound(data: str, media_type: str = RATE) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}}


def test_chunked_audio_samples_are_one_audio_part_with_their_rate():
    reply = streamed(chunk(sound("AAE=")), chunk(sound("AgM=")), chunk({"text": "x"}), chunk(sound("BAU=")), END)
    first, _text, second = reply.parts
    assert isinstance(first, AudioPart)
    assert (first.blob.read(), first.blob.media_type) == (b"\x00\x01\x02\x03", RATE.lower())
    assert isinstance(second, AudioPart)
    assert second.blob.read() == b"\x04\x05"


def test_audio_of_different_rates_is_several_parts():
    wav = "audio/wav"
    assert len(streamed(chunk(sound("AAE=", wav)), chunk(sound("AgM=", wav)), END).parts) == 2
    assert len(streamed(chunk(sound("AAE=")), chunk(sound("AgM=", "audio/L16;rate=16000")), END).parts) == 2
    assert len(streamed(chunk(sound("AAE="), sound("AgM=")), END).parts) == 2


def test_unknown_fields_of_parts_are_kept():
    said = [{"text": "a", "partMetadata": {"n": 1}}, {"text": "b"}, {**CALL, "partMetadata": {"n": 2}}]
    reply = whole(*said)
    options = [{"google": {"partMetadata": {"n": 1}}}, {}, {"google": {"partMetadata": {"n": 2}}}]
    assert [getattr(part, "provider_options", None) for part in reply.parts] == options
    assert streamed(*map(chunk, said), END).text == "ab"
    assert body_of(call(Message.user("hi"), Message("assistant", reply.parts[:2])))["contents"][1]["parts"] == said[:2]


def test_end_without_a_finish_reason_is_an_interruption():
    with pytest.raises(StreamInterruptedError):
        streamed(chunk({"text": "a"}))
    with pytest.raises(StreamInterruptedError):
        streamed(chunk({"text": "a"}, finish="FINISH_REASON_UNSPECIFIED"))


def test_stream_without_events_is_an_error():
    with pytest.raises(ServerError, match="not an event stream"):
        list(decoded([b"<html>"]))


def test_malformed_json_is_an_error_with_its_position():
    with pytest.raises(ServerError, match="event 2 of the stream is not JSON"):
        streamed(chunk({"text": "a"}), b"{", END)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("CONTINUATION", "paused"),
        ("TOO_MANY_TOOL_CALLS", "length"),
        ("PUP_LIMITED_DISABLED", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("NO_IMAGE", "error"),
        ("OTHER", "unknown"),
        ("TOMORROWS_REASON", "unknown"),
    ],
)
def test_finish_reason_is_mapped_and_kept(raw: str, reason: str):
    for reply in (streamed(chunk({"text": "a"}), chunk(finish=raw)), whole({"text": "a"}, finish=raw)):
        assert (reply.finish_reason, reply.raw_finish_reason) == (reason, raw)


def test_blocked_prompt_is_a_reply_without_parts():
    blocked = {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []}, "modelVersion": "m"}
    reply = streamed(blocked)
    assert (reply.parts, reply.finish_reason, reply.raw_finish_reason) == ((), "content_filter", "SAFETY")
    assert reply.provider_metadata["promptFeedback"] == blocked["promptFeedback"]


WORDS = [{"word": "Hello.", "startOffset": "0.100s", "endOffset": "0.8s"}]


def transcription(text: str, **fields: Any) -> dict[str, Any]:
    """A part of a response."""
    return {"audioTranscription": {"text": text, **fields}}


def spoken(text: str, **fields: Any) -> TextPart:
    """The text of a transcription."""
    return TextPart(text, provider_options={"google": {"audioTranscription": fields}})


def test_transcription_of_each_speaker_is_a_text_with_its_other_fields_as_options():
    parts = [
        transcription("Hello. ", speakerLabel="spk:0", words=WORDS),
        transcription("Good day.", speakerLabel="spk:1", languageCode="en-GB"),
    ]
    expected = (
        spoken("Hello. ", speakerLabel="spk:0", words=WORDS),
        spoken("Good day.", speakerLabel="spk:1", languageCode="en-GB"),
    )
    for reply in (whole(*parts), streamed(*map(chunk, parts), END), streamed(chunk(*parts), END)):
        assert (reply.parts, reply.text) == (expected, "Hello. Good day.")
    said = reply.message()
    assert said is not None
    assert body_of(call(Message.user("hi"), said))["contents"][-1]["parts"] == parts
    check_reply_losses(GEMINI, replace(reply, provider="google"))
    check_stream(GEMINI, replace(reply, provider="google"))


def test_pieces_of_a_transcription_are_joined_until_it_is_finished():
    pieces = [
        transcription("Hel", languageCode="en"),
        transcription("lo \ud83d"),
        transcription("\ude00", finished=True),
        transcription("Next"),
        {"text": "Summary"},
        {"text": "."},
        transcription("Last"),
    ]
    parts = (spoken("Hello 😀", languageCode="en"), spoken("Next"), TextPart("Summary."), spoken("Last"))
    assert streamed(*map(chunk, pieces), END).parts == parts


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"text": "a", **transcription("b")}, TextPart("a", provider_options={"google": transcription("b")})),
        (transcription(""), None),
        ({"audioTranscription": 5}, OpaquePart("google", "audioTranscription", {"audioTranscription": 5})),
        (
            transcription("", words=WORDS),
            OpaquePart("google", "audioTranscription", transcription("", words=WORDS)),
        ),
        ({"text": "", **transcription("b")}, spoken("b")),
    ],
)
def test_transcription_beside_other_content_is_kept(part: Any, expected: Any):
    for reply in (whole(part), streamed(chunk(part), END)):
        assert reply.parts == (() if expected is None else (expected,))


def test_option_of_a_transcription_is_checked():
    wrong = spoken("a", finished=True)
    with pytest.raises(InvalidInputError) as caught:
        GEMINI.encode(call(Message.user(wrong)))
    assert caught.value.path == "messages[0].parts[0].provider_options"


def test_response_without_candidates_is_an_error():
    with pytest.raises(ServerError, match="no candidates"):
        GEMINI.decode(response({"usageMetadata": {}}))


def test_grounding_sources_become_citations_by_byte_offset_and_the_rest_is_metadata():
    grounding = {
        "webSearchQueries": ["q"],
        "groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}, {"web": {"uri": "https://b"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 0, "endIndex": 8, "text": "Grüße"}, "groundingChunkIndices": [0]}
        ],
    }
    reply = streamed(
        chunk({"text": "Hm.", "thought": True}),
        chunk({"text": "Grü"}),
        chunk({"text": "ße."}),
        chunk(finish="STOP", groundingMetadata=grounding),
    )
    assert reply.parts[1] == TextPart("Grüße.", (Citation("https://a", "A", start=0, end=6),))
    rest = {"webSearchQueries": ["q"], "groundingChunks": [{"web": {"uri": "https://b"}}]}
    assert reply.provider_metadata["groundingMetadata"] == rest


def test_retrieved_text_is_the_quote():
    grounding = {
        "groundingChunks": [{"retrievedContext": {"uri": "f", "title": "t", "text": "said", "pageNumber": 2}}],
        "groundingSupports": [{"segment": {"endIndex": 1}, "groundingChunkIndices": [0, 9], "confidenceScores": [0.5]}],
    }
    (part,) = whole({"text": "a"}, groundingMetadata=grounding).parts
    assert isinstance(part, TextPart)
    metadata = {"groundingChunk": {"retrievedContext": {"pageNumber": 2}}, "confidenceScores": [0.5]}
    assert part.citations == (Citation("f", "t", "said", 0, 1, metadata),)


def test_code_and_images_keep_their_positions():
    reply = streamed(
        chunk({"text": "Let me."}),
        chunk({"executableCode": {"language": "PYTHON", "code": "1"}}),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}),
        chunk({"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": SIGNATURE}),
        chunk({"somethingNew": {"a": [1]}}, finish="STOP"),
    )
    _text, code, result, image, signature, new = reply.parts
    assert code == HostedToolCall("", "code_execution", '{"language":"PYTHON","code":"1"}')
    assert result == HostedToolResult("", (TextPart("1\n"),), {"outcome": "OUTCOME_OK"})
    assert isinstance(image, ImagePart)
    assert image.blob.read() == b"hi"
    assert signature == ReasoningPart("", SIGNATURE, origin="google/m")
    assert new == OpaquePart("google", "somethingNew", {"somethingNew": {"a": [1]}})


def test_invalid_base64_is_an_error():
    with pytest.raises(ServerError, match="not base64"):
        streamed(chunk({"inlineData": {"mimeType": "image/png", "data": "%"}}), END)


def test_only_the_first_candidate_is_read_and_others_have_a_warning():
    first, second = chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}, finish="MAX_TOKENS", index=1)
    both = {**first, "candidates": [*second["candidates"], *first["candidates"]]}
    assert (streamed(both).text, streamed(both).finish_reason) == ("a", "stop")
    reply = GEMINI.decode(response(both))
    assert [warning.code for warning in reply.warnings] == ["extra_candidates"]


def test_safety_ratings_and_log_probabilities_are_metadata():
    reply = streamed(
        chunk({"text": "a"}), chunk(finish="STOP", avgLogprobs=-0.5, logprobsResult={"chosenCandidates": []})
    )
    assert reply.provider_metadata == {"avgLogprobs": -0.5, "logprobsResult": {"chosenCandidates": []}}


def test_content_filters_in_errors_are_typed():
    with pytest.raises(ContentFilterError):
        raise GEMINI.error(GEMINI.render_error(ContentFilterError("no")))
