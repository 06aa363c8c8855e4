"""Recordings in another format. The files were made by FFmpeg; WAV is read by the standard library, MP3 by FFmpeg, and
requests are checked against the types of OpenAI's client.
"""

from __future__ import annotations

import base64
import io
import wave
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from abstractcore import AudioPart, File, MediaLoss, create_llm
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import MediaError
from abstractcore.schema import MediaControls
from abstractcore.testing.http_server import ScriptedServer, answer
from abstractcore_media import AudioHandler
from abstractcore_media.audio import converting
from abstractcore_media.audio.sound import SoundReader
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, sound

WAV, MP3 = "audio/wav", "audio/mpeg"
CONVERT = replace(NO_MODELS, fallbacks=("convert",), accepted_outputs=frozenset({WAV, MP3}))
SPEECH = [
    ("speech.flac", "audio/flac", 1.5),
    ("speech.m4a", "audio/mp4", 7.059),
    ("speech.ogg", "audio/ogg", 7.059),
    ("speech.webm", "audio/webm", 7.066),
]


def heard(part: Any) -> np.ndarray[Any, Any]:
    """The samples at 16,000 Hz, as the transcription gets them."""
    return np.concatenate(list(SoundReader(part, 600).blocks()))


def alike(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], shift: int = 3_000) -> float:
    """The highest correlation of two recordings, of which one may begin up to `shift` samples later."""
    middle = one[shift : min(len(one), len(other)) - shift]
    scores = np.correlate(other, middle, "valid")
    return float(scores.max() / np.linalg.norm(middle) ** 2)


def recording(seconds: float, rate: int = 48_000, channels: int = 2) -> bytes:
    """WAV with another tone in each channel."""
    time = np.arange(int(seconds * rate)) / rate
    tones = [0.3 * np.sin(2 * np.pi * 440 * (channel + 1) * time) for channel in range(channels)]
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes((np.stack(tones, axis=1) * 32767).astype("<i2").tobytes())
    return out.getvalue()


def only(conversion: Any) -> AudioPart:
    (part,) = conversion.parts
    assert isinstance(part, AudioPart)
    return part


@pytest.mark.parametrize(("name", "media_type", "seconds"), SPEECH)
def test_short_recording_becomes_wav_with_the_same_sound(name: str, media_type: str, seconds: float):
    conversion = AudioHandler().convert(sound(FILES / name, media_type), CONVERT)
    part = only(conversion)
    assert (part.blob.media_type, part.blob.name) == (WAV, f"{Path(name).stem}.wav")
    with wave.open(io.BytesIO(part.blob.read())) as file:
        assert file.getsampwidth() == 2
        assert file.getnframes() / file.getframerate() == pytest.approx(seconds, abs=0.15)
    assert alike(heard(sound(FILES / name, media_type)), heard(part)) == pytest.approx(1, abs=0.02)
    assert (conversion.fallback, conversion.lost, conversion.warnings) == ("convert", (), ())


def test_model_that_takes_mp3_only_gets_mp3():
    context = replace(CONVERT, accepted_outputs=frozenset({MP3}))
    part = only(AudioHandler().convert(sound(FILES / "speech.ogg", "audio/ogg"), context))
    assert (part.blob.media_type, part.blob.name) == (MP3, "speech.mp3")
    assert alike(heard(sound(FILES / "speech.ogg", "audio/ogg")), heard(part)) == pytest.approx(1, abs=0.1)


def test_long_recording_is_reduced_and_the_loss_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(converting, "_MAX_WHOLE_BYTES", 500_000)
    conversion = AudioHandler().convert(sound(recording(4), "audio/aiff"), CONVERT)
    part = only(conversion)
    assert part.blob.media_type == MP3
    assert (part.blob.size or 0) < 40_000
    assert len(heard(part)) == pytest.approx(4 * 16_000, abs=2_000)
    assert conversion.lost == (
        MediaLoss("samples", 96_000, 192_000, ("24,000 of 48,000 a second",)),
        MediaLoss("channels", 1, 2, ("2 mixed to 1",)),
    )


def test_reduced_recording_is_wav_where_mp3_is_not_accepted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(converting, "_MAX_WHOLE_BYTES", 500_000)
    context = replace(CONVERT, accepted_outputs=frozenset({WAV}))
    part = only(AudioHandler().convert(sound(recording(4), "audio/aiff"), context))
    with wave.open(io.BytesIO(part.blob.read())) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (1, 24_000, 96_000)


def test_only_the_given_seconds_are_converted():
    part = replace(sound(FILES / "speech.ogg", "audio/ogg"), controls=MediaControls(start=2, end=4.5))
    made = only(AudioHandler().convert(part, CONVERT))
    assert made.controls is None
    assert alike(heard(sound(FILES / "speech.ogg"))[32_000:72_000], heard(made), 100) == pytest.approx(1, abs=0.02)


def test_truncated_recording_is_converted_with_a_warning():
    half = (FILES / "speech.mp3").read_bytes()[:11_000]
    conversion = AudioHandler().convert(sound(half, "audio/mpeg"), replace(CONVERT, accepted_outputs=frozenset({WAV})))
    (warning,) = conversion.warnings
    assert warning.code == "media_damaged"
    assert len(heard(only(conversion))) > 3 * 16_000


def test_recording_that_is_too_long_is_refused_where_it_may_not_be_transcribed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(converting, "_MAX_WHOLE_BYTES", 1_000)
    monkeypatch.setattr(converting, "MAX_BYTES", 2_000)
    with pytest.raises(MediaError, match="more than 2,000 bytes"):
        AudioHandler().convert(sound(FILES / "speech.ogg", "audio/ogg"), CONVERT)


@pytest.mark.parametrize("content", [b"OggS" + bytes(100), b"RIFF" + bytes(100), b""])
def test_what_is_no_recording_is_a_media_error(content: bytes):
    with pytest.raises(MediaError):
        AudioHandler().convert(sound(content, "audio/ogg"), CONVERT)


@pytest.mark.process
def test_conversion_is_the_same_in_a_process_of_its_own():
    pool = ProcessPool()
    try:
        part = sound(FILES / "speech.m4a", "audio/mp4")
        isolated = AudioHandler().convert(part, replace(CONVERT, isolation=pool))
        assert only(isolated).blob == only(AudioHandler().convert(part, CONVERT)).blob
    finally:
        pool.close()


@pytest.mark.process
@pytest.mark.parametrize(
    ("policy", "accepts", "fallback"),
    [
        ("auto", [WAV, MP3], "convert"),
        ("fallback_only", [WAV, MP3], "convert"),
        ("convert", [MP3], "convert"),
        ("transcript", [WAV, MP3], "transcript"),
        ("auto", ["image"], "transcript"),
        ("auto", [], "transcript"),
    ],
)
def test_sound_itself_is_preferred_where_the_model_accepts_it(policy: str, accepts: list[str], fallback: str):
    llm = create_llm("scripted", replies=["x"], accepts=accepts)
    (decision,) = llm.plan("?", media=[FILES / "speech.ogg"], media_policy={"audio": policy})
    assert (decision.route, decision.fallback) == ("fallback", fallback)


def test_recording_of_an_accepted_type_is_sent_as_it_is():
    llm = create_llm("scripted", replies=["x"], accepts=[WAV, MP3])
    (decision,) = llm.plan("?", media=[EXAMPLES / "meeting.wav"])
    assert decision.route == "native"
    (decision,) = llm.plan("?", media=[FILES / "speech.mp3"])
    assert decision.route == "native"


def test_response_says_what_was_sent(call_style):
    llm = create_llm("scripted", replies=["x"], accepts=[WAV, MP3])
    response = call_style.generate(llm, "?", media=[File(FILES / "speech.flac", end=1)])
    (decision,) = response.media
    assert (decision.route, decision.fallback, decision.alternatives) == ("fallback", "convert", ())
    assert (decision.sent.media_type, response.warnings) == (WAV, ())
    parts = llm.calls[0].messages[0].parts
    assert [part.type for part in parts] == ["text", "audio", "text"]
    assert parts[0].text == '<untrusted-file name="speech.flac" content="recording in another format">\n'


def test_openai_gets_wav_in_the_shape_of_its_client(call_style):
    reply = {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-audio",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Good morning."}}
        ],
    }
    with ScriptedServer() as server:
        server.always(answer(reply))
        llm = create_llm("openai", model="gpt-audio", api_key="k", base_url=f"{server.url}/v1")
        response = call_style.generate(llm, "What is said?", media=[FILES / "speech.flac"])
    (decision,) = response.media
    assert (decision.fallback, decision.reason) == (
        "convert",
        "gpt-audio does not accept audio/flac, so the audio handler converts it to audio/mpeg and audio/wav and text",
    )
    body = server.requests[0].json
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(body)
    (item,) = [each for each in body["messages"][0]["content"] if each["type"] == "input_audio"]
    assert item["input_audio"]["format"] == "wav"
    with wave.open(io.BytesIO(base64.b64decode(item["input_audio"]["data"]))) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(1.5, abs=0.01)
