"""Voices of vendors: what is sent, and what becomes of the sound, sync and async."""

from __future__ import annotations

import io
import wave
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import AuthenticationError, ConfigurationError, InvalidInputError, UnsupportedOptionError, Usage
from abstractcore.testing.sync_and_async import CallStyle
from tests.backend_doubles import call, spoken
from tests.plugins.voice.remote.conftest import Connect
from tests.plugins.voice.remote.fakes import sound_of

SPEAKERS = ["openai", "elevenlabs", "deepgram", "cartesia", "gemini"]
TEXT = "Hello **there**. The 9:05 train costs $5."
SENTENCES = ["Hello there.", "The 9:05 train costs $5."]


def pcm(data: bytes) -> bytes:
    """The samples of a WAV file."""
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        return file.readframes(file.getnframes())


def charged(usage: Usage) -> int | None:
    """The tokens of sound, or the characters."""
    return usage.output if usage.billing is None else usage.billing.counts["character"]


@pytest.mark.parametrize("name", SPEAKERS)
def test_text_is_sent_as_one_request_without_its_marks(connect: Connect, call_style: CallStyle, name: str) -> None:
    vendor = connect(name)
    result = call(call_style, vendor.llm.voice, "tts", TEXT)
    assert vendor.fake.texts == [" ".join(SENTENCES)]
    assert result.part.transcript == " ".join(SENTENCES)
    assert pcm(result.part.blob.read()) == sound_of(" ".join(SENTENCES))
    assert result.backend == f"abstractvoice:{name}"
    assert charged(result.usage) in (len(" ".join(SENTENCES)), 101)
    assert result.metadata["said"][0]["source_end"] == len(TEXT)
    assert result.warnings == ()


@pytest.mark.parametrize("name", SPEAKERS)
def test_stream_yields_the_sound_of_each_sentence_as_it_arrives(
    connect: Connect, call_style: CallStyle, name: str
) -> None:
    vendor = connect(name)
    parts, result = spoken(call_style, vendor.llm.voice, iter(["Hello **the", "re**. The 9:05 tr", "ain costs $5."]))
    assert vendor.fake.texts == SENTENCES
    assert len(parts) > 4
    assert b"".join(part.blob.read() for part in parts) == sound_of("".join(SENTENCES))
    assert [part.transcript for part in parts if part.transcript] == SENTENCES
    at = 0.0
    for part in parts:
        about: Any = part.provider_options["voice"]
        assert about["at"] == pytest.approx(at, abs=0.001)
        at += len(part.blob.read()) / 48_000
    assert charged(result.usage) in (sum(map(len, SENTENCES)), 202)


def test_requests_are_those_of_the_vendors(connect: Connect) -> None:
    voices = {
        "openai": "marin",
        "elevenlabs": "b2",
        "deepgram": "aura-2-zeus-en",
        "cartesia": "voice-7",
        "gemini": "Kore",
    }
    options: Any = {"speed": 1.1, "instructions": "Cheerful.", "language": "en"}
    bodies: dict[str, Any] = {}
    for name in SPEAKERS:
        vendor = connect(name)
        vendor.llm.voice.tts("Hi.", voice=voices[name], **options)
        bodies[name] = vendor.fake.bodies[0]
        assert vendor.server.requests[-1].target.startswith("/v1") or name == "cartesia"
    assert bodies["openai"] == {
        "model": "gpt-4o-mini-tts",
        "input": "Hi.",
        "voice": "marin",
        "response_format": "pcm",
        "speed": 1.1,
        "instructions": "Cheerful.",
        "stream_format": "sse",
    }
    assert bodies["elevenlabs"] == {
        "text": "Hi.",
        "model_id": "eleven_flash_v2_5",
        "language_code": "en",
        "voice_settings": {"speed": 1.1},
    }
    assert bodies["deepgram"] == {"text": "Hi."}
    assert bodies["cartesia"]["voice"] == {"id": "voice-7"}
    assert bodies["cartesia"]["generation_config"] == {"speed": 1.1}
    assert bodies["gemini"]["contents"] == [
        {"role": "user", "parts": [{"text": "Hi.", "speechMetadata": {"style": "Cheerful."}}]}
    ]


def test_voice_is_the_model_of_deepgram(connect: Connect) -> None:
    vendor = connect("deepgram")
    vendor.llm.voice.tts("Hi.", voice="aura-2-zeus-en", speed=1.2)
    query = vendor.fake.bodies[1]
    assert (query["model"], query["speed"]) == ("aura-2-zeus-en", "1.2")


def test_text_before_is_sent_for_the_intonation(connect: Connect) -> None:
    vendor = connect("elevenlabs")
    with vendor.llm.voice.tts_stream(TEXT) as stream:
        list(stream)
    assert [body.get("previous_text") for body in vendor.fake.bodies] == [None, SENTENCES[0]]


def test_long_text_is_split_between_sentences_at_the_limit_of_the_vendor(connect: Connect) -> None:
    vendor = connect("deepgram")
    result = vendor.llm.voice.tts("A sentence of forty characters in length. " * 100)
    assert len(vendor.fake.texts) == 3
    assert max(map(len, vendor.fake.texts)) <= 2000
    assert len(pcm(result.part.blob.read())) == len(sound_of("".join(vendor.fake.texts)))


def test_model_without_events_sends_samples(connect: Connect) -> None:
    vendor = connect("openai")
    result = vendor.llm.voice.tts("Hello.", model="tts-1")
    assert "stream_format" not in vendor.fake.bodies[0]
    assert (result.model, result.usage.output) == ("openai/tts-1", None)
    assert result.cost == Decimal(15) * 6 / 1_000_000


def test_tokens_of_events_are_charged(connect: Connect) -> None:
    vendor = connect("openai")
    result = vendor.llm.voice.tts("Hello.")
    assert (result.model, result.usage.input, result.usage.output) == ("openai/gpt-4o-mini-tts", 14, 101)
    assert result.cost == (Decimal("0.6") * 14 + Decimal(12) * 101) / 1_000_000


@pytest.mark.parametrize("format", ["mp3", "opus", "flac"])
def test_file_has_the_format_that_was_asked_for(connect: Connect, format: str) -> None:
    from tests.plugins.voice.sounds import seconds

    result = connect("cartesia").llm.voice.tts("A sentence of some length.", format=format)
    assert seconds(result.part.blob.read()) == pytest.approx(0.26, abs=0.06)


def test_argument_that_the_vendor_does_not_take_is_a_warning(connect: Connect) -> None:
    llm = connect("elevenlabs").llm
    result = llm.voice.tts("Hi.", instructions="Sad.", speed=2)
    assert [(each.code, each.path, each.requested, each.sent) for each in result.warnings] == [
        ("unsupported_option", "instructions", "Sad.", None),
        ("unsupported_option", "speed", 2, 1.2),
    ]
    with pytest.raises(UnsupportedOptionError, match="ElevenLabs does not take instructions"):
        llm.voice.tts("Hi.", instructions="Sad.", strict=True)


def test_voices_are_listed_over_pages(connect: Connect, call_style: CallStyle) -> None:
    assert call(call_style, connect("elevenlabs").llm.voice, "list_voices") == [
        {"id": "a1", "name": "Ann", "gender": "female"},
        {"id": "b2", "name": "Bob"},
    ]
    cartesia = call(call_style, connect("cartesia").llm.voice, "list_voices")
    assert (len(cartesia), cartesia[-1]) == (120, {"id": "voice-120", "name": "Voice 120", "language": "en"})
    assert call(call_style, connect("deepgram").llm.voice, "list_voices") == [
        {"id": "aura-2-thalia-en", "name": "thalia", "language": "en"}
    ]
    assert {"id": "Kore"} in call(call_style, connect("gemini").llm.voice, "list_voices")


@pytest.mark.parametrize("name", SPEAKERS)
def test_wrong_key_is_an_authentication_error_that_does_not_show_it(connect: Connect, name: str) -> None:
    vendor = connect(name, voice_api_key="wrong-key-that-is-secret")
    with pytest.raises(AuthenticationError, match="invalid key") as caught:
        vendor.llm.voice.tts("Hi.")
    assert "wrong-key" not in repr(caught.value)


def test_missing_key_says_what_to_set(connect: Connect) -> None:
    vendor = connect("elevenlabs", voice_base_url=None, voice_api_key=None)
    with pytest.raises(ConfigurationError, match=r"ElevenLabs needs an API key.*ELEVENLABS_API_KEY"):
        vendor.llm.voice.tts("Hi.")


def test_server_of_ones_own_needs_no_key(connect: Connect) -> None:
    vendor = connect("openai", voice_api_key=None)
    vendor.server.always_by(lambda request: vendor.fake.sound(request.json["input"]))
    assert pcm(vendor.llm.voice.tts("Hi.").part.blob.read()) == sound_of("Hi.")
    assert "authorization" not in vendor.server.requests[0].headers


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [("***", {}, "nothing to say"), ("Hi.", {"format": "mp4"}, "Is it mp3"), ("Hi.", {"speed": "x"}, "a number")],
)
def test_bad_input_is_refused_before_anything_is_sent(
    connect: Connect, text: str, options: dict[str, Any], message: str
) -> None:
    vendor = connect("openai")
    with pytest.raises(InvalidInputError, match=message):
        vendor.llm.voice.tts(text, **options)
    assert vendor.server.requests == []
