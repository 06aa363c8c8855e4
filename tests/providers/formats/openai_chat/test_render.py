"""Rendering replies as responses, whole and streamed."""

import base64
import json
from typing import Any

import pytest

from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    FinishReason,
    ImagePart,
    ModelReply,
    OpaquePart,
    PartDelta,
    ReasoningPart,
    TextPart,
    ToolCall,
    Usage,
    deltas_of,
)
from abstractcore.testing import check_reply_losses
from tests.providers.formats.openai_chat.wire import CHAT, rendered_chunks

WAV = Blob.from_bytes(b"sound", "audio/wav")


def reply(*parts: Any, finish_reason: FinishReason = "stop", **fields: Any) -> ModelReply:
    return ModelReply(parts, finish_reason, **{"model": "m", "id": "r", **fields})


def whole(reply: ModelReply) -> tuple[Any, list[str]]:
    """The choice that is sent, and the paths of the warnings."""
    rendered = CHAT.render(reply)
    (choice,) = json.loads(rendered.body)["choices"]
    return choice, [warning.path for warning in rendered.warnings]


def streamed(reply: ModelReply) -> list[Any]:
    """The deltas that are sent, the last with its finish reason."""
    return [chunk["choices"][0]["delta"] for chunk in rendered_chunks(deltas_of(reply)) if chunk["choices"]]


def test_reply_has_all_fields_that_a_client_expects():
    body = json.loads(CHAT.render(reply(TextPart("a"))).body)
    assert body == {
        "id": "r",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a", "refusal": None},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
    }


def test_refusal_is_rendered_completely_and_at_the_end_of_a_stream():
    refusal = reply(TextPart("No."), finish_reason="refusal")
    choice, warnings = whole(refusal)
    assert (choice["message"]["refusal"], choice["message"]["content"], choice["finish_reason"]) == (
        "No.",
        None,
        "stop",
    )
    assert warnings == []
    assert streamed(refusal) == [{"role": "assistant", "content": ""}, {"content": "No."}, {"refusal": ""}]


@pytest.mark.parametrize(
    ("reason", "sent"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("paused", "stop"),
        ("error", "stop"),
        ("unknown", "stop"),
        ("refusal", "stop"),
    ],
)
def test_finish_reason_without_a_vendor_value_has_a_warning(reason: FinishReason, sent: str):
    choice, warnings = whole(reply(finish_reason=reason))
    assert choice["finish_reason"] == sent
    assert warnings == ([] if reason == sent else ["finish_reason"])
    assert rendered_chunks(deltas_of(reply(finish_reason=reason)))[-1]["choices"][0]["finish_reason"] == sent


def test_parts_out_of_order_are_moved_with_a_warning():
    mixed = reply(ToolCall("c", "f"), TextPart("a"), ReasoningPart("r"), AudioPart(WAV), TextPart("b"))
    choice, warnings = whole(mixed)
    assert choice["message"]["content"] == "ab"
    assert choice["message"]["reasoning_content"] == "r"
    found = {warning.path: warning.sent for warning in CHAT.render(mixed).warnings}
    assert found == {"parts[2]": 0, "parts[1]": 1, "parts[4]": 2, "parts[3]": 3}
    assert sorted(warnings) == sorted(found)


def test_unsupported_parts_of_a_reply_have_a_warning():
    cited = TextPart("a", (Citation("s", quote="q", provider_metadata={"x": 1}),))
    parts = (
        ReasoningPart("r", "signature"),
        ReasoningPart(redacted_data="x"),
        cited,
        ImagePart(WAV),
        OpaquePart("p", "k"),
        AudioPart(WAV, "t", "a"),
        AudioPart(WAV),
        ToolCall("c", "f", signature="s"),
    )
    _, warnings = whole(
        reply(*parts, provider_metadata={"id": 1, "choices": 2, "created": "now", "logprobs": 3, "x": 4})
    )
    assert sorted(warnings) == sorted(
        [
            "parts[0].signature",
            "parts[1].redacted_data",
            "parts[2].citations[0].quote",
            "parts[2].citations[0].provider_metadata",
            "parts[3]",
            "parts[4]",
            "parts[6]",
            "parts[7].signature",
            "provider_metadata",
        ]
    )


@pytest.mark.parametrize("value", ["", [], {}, False, 0, 5, "x"])
@pytest.mark.parametrize("name", ["id", "usage", "created", "logprobs"])
def test_conflicting_metadata_has_a_warning(name: str, value: Any):
    given_reply = reply(TextPart("a"), provider="openai", provider_metadata={name: value, "x": 4})
    check_reply_losses(CHAT, given_reply)
    warnings = CHAT.render(given_reply).warnings
    lost = (name, value) not in [("logprobs", {}), ("created", 5)]
    named = [("provider_metadata", {name: value, "x": 4}, {"x": 4})] if lost else []
    assert [(w.path, w.requested, w.sent) for w in warnings] == named


def test_call_options_are_rendered_and_text_options_have_a_warning():
    options = {"openai": {"x": 1}}
    call = ToolCall("c", "f", provider_options=options)
    choice, warnings = whole(reply(TextPart("a", provider_options=options), call))
    assert choice["message"]["tool_calls"][0]["x"] == 1
    assert warnings == ["parts[0].provider_options.openai"]
    assert streamed(reply(call))[1]["tool_calls"][0]["x"] == 1


@pytest.mark.parametrize(
    "blob", [Blob.from_url("https://a", "audio/wav"), Blob.from_artifact("0" * 64, "audio/wav", 1)]
)
def test_audio_stored_elsewhere_is_left_out_with_a_warning(blob: Blob):
    choice, warnings = whole(reply(AudioPart(blob), AudioPart(WAV)))
    assert base64.b64decode(choice["message"]["audio"]["data"]) == b"sound"
    assert warnings == ["parts[0]"]


def test_audio_of_another_type_has_a_warning():
    rendered = CHAT.render(reply(AudioPart(Blob.from_bytes(b"x", "audio/mpeg"))))
    (warning,) = rendered.warnings
    assert (warning.path, warning.requested, warning.sent) == ("parts[0].blob.media_type", "audio/mpeg", "audio/wav")


def test_audio_is_streamed_once_completely():
    deltas = deltas_of(reply(AudioPart(WAV, "t", "a")))
    again = PartDelta(99, 7, AudioPart(WAV))
    sent = [
        chunk["choices"][0]["delta"] for chunk in rendered_chunks([*deltas[:2], again, *deltas[2:]]) if chunk["choices"]
    ]
    audio = {"id": "a", "data": base64.b64encode(b"sound").decode(), "transcript": "t", "expires_at": 0}
    assert sent == [{"role": "assistant", "content": ""}, {"audio": audio}, {}]


def test_citation_offsets_of_later_texts_count_from_the_start():
    parts = (TextPart("ab"), ToolCall("c", "f"), TextPart("cd", (Citation("https://a", start=1, end=2),)))
    choice, _ = whole(reply(*parts))
    (whole_note,) = choice["message"]["annotations"]
    (note,) = next(delta["annotations"] for delta in streamed(reply(*parts)) if "annotations" in delta)
    assert whole_note == note
    assert (note["url_citation"]["start_index"], note["url_citation"]["end_index"]) == (3, 4)


def test_metadata_and_log_probabilities_end_a_stream():
    metadata = {"system_fingerprint": "fp", "logprobs": {"content": [{"token": "a"}]}, "created": 5, "id": "not this"}
    *_, last = rendered_chunks(deltas_of(reply(TextPart("a"), provider_metadata=metadata)))
    assert (last["system_fingerprint"], last["created"], last["id"]) == ("fp", 5, "r")
    assert last["choices"][0]["logprobs"] == {"content": [{"token": "a"}]}


def test_usage_is_a_separate_chunk_and_omitted_if_unknown():
    counted = rendered_chunks(deltas_of(reply(usage=Usage(1, 2, cached=1))))[-1]
    assert counted["choices"] == []
    assert counted["usage"] == {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1},
    }
    assert all("usage" not in chunk for chunk in rendered_chunks(deltas_of(reply())))
    assert "usage" not in json.loads(CHAT.render(reply()).body)
