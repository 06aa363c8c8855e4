"""Vendors that fail: 4xx, 5xx, garbage, sound that breaks off, silence."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from abstractcore import (
    AudioPart,
    BadRequestError,
    ContentFilterError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
    UnexpectedResponseError,
)
from abstractcore.testing.http_server import CUT, HANG, LAST_CHUNK, Step, answer, chunk, stream_head
from abstractcore.testing.sync_and_async import CallStyle
from tests.backend_doubles import call
from tests.plugins.voice.remote.conftest import Connect
from tests.plugins.voice.remote.fakes import sound_of
from tests.plugins.voice.remote.test_speaking import SPEAKERS

SPOKEN = {"openai": "audio/pcm", "elevenlabs": "audio/pcm", "deepgram": "audio/l16", "cartesia": "audio/pcm"}


def events(event: object) -> tuple[Step, ...]:
    """A response of one event."""
    head = stream_head(content_type="text/event-stream")
    return head, chunk(f"data: {json.dumps(event)}\n\n".encode()), LAST_CHUNK


@pytest.mark.parametrize("name", SPEAKERS)
@pytest.mark.parametrize(
    ("status", "error"),
    [(400, BadRequestError), (429, RateLimitError), (500, ServerError), (503, OverloadedError)],
)
def test_status_is_a_typed_error_with_the_words_of_the_vendor(
    connect: Connect, name: str, status: int, error: type[ProviderError]
) -> None:
    vendor = connect(name, max_retries=0)
    vendor.server.script(vendor.fake.error(status, "no such thing"))
    with pytest.raises(error, match="no such thing") as caught:
        vendor.llm.voice.tts("Hi.")
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("name", "body", "error"),
    [
        ("openai", {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, QuotaError),
        ("elevenlabs", {"detail": {"status": "quota_exceeded", "message": "10 credits remaining"}}, QuotaError),
        ("elevenlabs", {"detail": [{"loc": ["body", "text"], "msg": "field required", "type": "x"}]}, RateLimitError),
        (
            "deepgram",
            {"category": "LIMIT", "message": "Too many", "details": "slow", "request_id": "1"},
            RateLimitError,
        ),
        ("cartesia", {"error_code": "quota_exceeded", "title": "No credits", "message": "Buy more"}, QuotaError),
    ],
)
def test_quota_and_rate_are_told_apart_by_the_vendors_code(
    connect: Connect, name: str, body: object, error: type[ProviderError]
) -> None:
    vendor = connect(name, max_retries=0)
    vendor.server.script(answer(json.dumps(body).encode(), 429, content_type="application/json"))
    with pytest.raises(error):
        vendor.llm.voice.tts("Hi.")


@pytest.mark.parametrize("name", SPEAKERS)
def test_busy_vendor_is_asked_again_before_any_sound_has_arrived(connect: Connect, name: str) -> None:
    vendor = connect(name)
    vendor.server.script(answer(b"busy", 503, retry_after="0"))
    with vendor.llm.voice.tts_stream("Hi.") as stream:
        sound = b"".join(part.blob.read() for part in stream)
    assert sound == sound_of("Hi.")
    assert len(vendor.server.requests) == 2


@pytest.mark.parametrize("name", SPEAKERS)
@pytest.mark.parametrize(
    "garbage",
    [
        answer(b"<html>sign in</html>", content_type="text/html"),
        answer(b'{"audio": null}', content_type="application/json"),
        answer(b"data: {}\n\ndata: nonsense\n\n", content_type="text/event-stream"),
    ],
    ids=["page", "json", "events"],
)
def test_response_without_sound_is_unexpected(connect: Connect, name: str, garbage: bytes) -> None:
    vendor = connect(name, max_retries=0)
    vendor.server.script(garbage)
    with pytest.raises((UnexpectedResponseError, StreamInterruptedError)):
        vendor.llm.voice.tts("Hi.")


@pytest.mark.parametrize("name", [*SPOKEN])
@pytest.mark.parametrize("end", [(CUT,), (chunk(b"?"), LAST_CHUNK)], ids=["cut", "half a sample"])
def test_sound_that_breaks_off_is_an_error_and_is_not_requested_again(
    connect: Connect, name: str, end: tuple[Step, ...]
) -> None:
    vendor = connect(name)
    vendor.server.script(stream_head(content_type=SPOKEN[name]), chunk(sound_of("Hi")), *end)
    parts: list[AudioPart] = []
    with pytest.raises(ProviderError), vendor.llm.voice.tts_stream("Hi there.") as stream:
        parts += stream
    assert b"".join(part.blob.read() for part in parts) == sound_of("Hi")
    assert len(vendor.server.requests) == 1


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_events_that_end_too_early_are_an_interrupted_stream(connect: Connect, name: str) -> None:
    vendor = connect(name)
    sound = base64.b64encode(sound_of("Hi")).decode()
    event: dict[str, Any] = {"type": "speech.audio.delta", "audio": sound}
    if name == "gemini":
        event = {"candidates": [{"content": {"parts": [{"inlineData": {"data": sound}}]}}]}
    vendor.server.script(*events(event))
    with pytest.raises(StreamInterruptedError), vendor.llm.voice.tts_stream("Hi.") as stream:
        assert next(stream).blob.read() == sound_of("Hi")
        list(stream)


@pytest.mark.parametrize(
    "event",
    [
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
        {"candidates": [{"finishReason": "SAFETY"}]},
    ],
)
def test_blocked_text_is_a_content_filter_error(connect: Connect, event: object) -> None:
    vendor = connect("gemini")
    vendor.server.script(*events(event))
    with pytest.raises(ContentFilterError):
        vendor.llm.voice.tts("Hi.")


@pytest.mark.parametrize("name", SPEAKERS)
@pytest.mark.parametrize("begun", [False, True])
def test_silent_vendor_ends_at_the_time_limit(connect: Connect, name: str, begun: bool) -> None:
    vendor = connect(name)
    vendor.server.always(*([stream_head(content_type="audio/pcm")] if begun else []), HANG)
    with pytest.raises(RequestTimeoutError):
        vendor.llm.voice.tts("Hi.", timeout=0.3)


def test_vendor_that_falls_silent_ends_without_a_time_limit_too(
    connect: Connect, call_style: CallStyle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abstractvoice.remote.sound_sources.IDLE_SECONDS", 0.2)
    vendor = connect("cartesia")
    vendor.server.script(stream_head(content_type="audio/pcm"), chunk(sound_of("Hi")), HANG)
    with pytest.raises(RequestTimeoutError, match="no sound arrived"):
        call(call_style, vendor.llm.voice, "tts", "Hi there.", timeout=None)
