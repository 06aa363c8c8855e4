"""Speech recognition of vendors: recordings sent, transcripts read, jobs that end and that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstractcore import BadRequestError, ProviderError, RequestTimeoutError, UnexpectedResponseError
from abstractcore.testing import VirtualClock
from abstractcore.testing.http_server import answer
from abstractcore.testing.sync_and_async import CallStyle
from tests.backend_doubles import WAV, call
from tests.plugins.voice.remote.conftest import Connect
from tests.plugins.voice.remote.fakes import FakeAssemblyAI

LISTENERS = ["elevenlabs", "deepgram", "cartesia"]
MODELS = {"elevenlabs": "scribe_v2", "deepgram": "nova-3", "cartesia": "ink-whisper"}


@pytest.mark.parametrize("name", LISTENERS)
def test_recording_becomes_a_transcript_with_words(connect: Connect, call_style: CallStyle, name: str) -> None:
    vendor = connect(name)
    result = call(call_style, vendor.llm.voice, "stt", WAV, language="en")
    first = result.transcript.segments[0]
    assert (first.text, first.start, first.end) == ("Hello there.", 0.1, 0.9)
    assert [word.text for word in first.words] == ["Hello", "there."]
    assert result.transcript.seconds == 2.0
    assert result.model == f"{name}/{MODELS[name]}"


@pytest.mark.parametrize("name", ["elevenlabs", "deepgram"])
def test_speakers_are_told_apart(connect: Connect, name: str) -> None:
    result = connect(name).llm.voice.stt(WAV, speakers=2, terms=["Bergen", "Oslo Sentral"])
    assert [segment.text for segment in result.transcript.segments] == ["Hello there.", "Yes."]
    assert len(result.transcript.speakers) == 2


def test_requests_name_language_terms_and_speakers(connect: Connect) -> None:
    options: Any = {"language": "nb", "terms": ["Bergen", "Oslo"], "speakers": 2}
    elevenlabs = connect("elevenlabs")
    elevenlabs.llm.voice.stt(WAV, **options)
    form = elevenlabs.fake.bodies[0]
    assert (form["language_code"], form["keyterms"], form["num_speakers"]) == (["nb"], ["Bergen", "Oslo"], ["2"])
    assert form["file"][0][1:] == ("audio/wav", WAV)
    deepgram = connect("deepgram")
    deepgram.llm.voice.stt(WAV, **options)
    assert deepgram.fake.bodies[0]["query"] == [
        ("model", "nova-3"),
        ("smart_format", "true"),
        ("language", "nb"),
        ("keyterm", "Bergen"),
        ("keyterm", "Oslo"),
        ("diarize_model", "latest"),
    ]


def test_job_is_asked_for_until_it_is_done(connect: Connect, call_style: CallStyle) -> None:
    vendor = connect("assemblyai", clock=VirtualClock())
    result = call(call_style, vendor.llm.voice, "stt", WAV, speakers=True, terms=["Oslo"])
    assert result.text == "Hello there. Yes."
    assert result.transcript.speakers == ("A", "B")
    assert (result.transcript.segments[1].start, result.model) == (1.5, "assemblyai/universal-3-pro")
    assert [request.method for request in vendor.server.requests] == ["POST", "POST", "GET", "GET", "GET"]
    assert vendor.server.requests[0].body == WAV
    assert vendor.fake.bodies[0] == {
        "audio_url": f"https://cdn.assemblyai.example/{len(WAV)}",
        "language_detection": True,
        "keyterms_prompt": ["Oslo"],
        "speaker_labels": True,
    }


def test_job_that_fails_is_an_error_with_the_words_of_the_vendor(connect: Connect) -> None:
    vendor = connect("assemblyai", clock=VirtualClock())
    assert isinstance(vendor.fake, FakeAssemblyAI)
    vendor.fake.states = ("queued", "error")
    with pytest.raises(BadRequestError, match="the file has no audio"):
        vendor.llm.voice.stt(WAV)


def test_job_that_never_ends_ends_at_the_time_limit(connect: Connect, call_style: CallStyle) -> None:
    vendor = connect("assemblyai", clock=VirtualClock())
    assert isinstance(vendor.fake, FakeAssemblyAI)
    vendor.fake.states = ("processing",)
    with pytest.raises(RequestTimeoutError):
        call(call_style, vendor.llm.voice, "stt", WAV, timeout=60)


def test_start_of_a_job_is_not_repeated(connect: Connect) -> None:
    vendor = connect("assemblyai", clock=VirtualClock())
    vendor.server.script(answer(b'{"upload_url": "https://cdn.example/1"}', content_type="application/json"))
    vendor.server.script(answer(b"busy", 503))
    with pytest.raises(ProviderError, match="busy"):
        vendor.llm.voice.stt(WAV)
    assert len(vendor.server.requests) == 2


@pytest.mark.parametrize("name", [*LISTENERS, "assemblyai"])
@pytest.mark.parametrize("garbage", [b"<html>", b"[]", b"", json.dumps({"status": 3}).encode()])
def test_garbage_is_a_typed_error_or_an_empty_transcript(connect: Connect, name: str, garbage: bytes) -> None:
    vendor = connect(name)
    vendor.server.always(answer(garbage, content_type="application/json"))
    if garbage.startswith(b"{") and name != "assemblyai":
        assert vendor.llm.voice.stt(WAV).text == ""
        return
    with pytest.raises(UnexpectedResponseError):
        vendor.llm.voice.stt(WAV)
