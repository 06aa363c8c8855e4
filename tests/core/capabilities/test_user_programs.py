"""What users write: speech, pictures and transcripts of backends in memory, sync and async."""

from __future__ import annotations

import wave
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    CallProgress,
    CapabilityUnavailableError,
    Transcript,
    TranscriptResult,
    TranscriptSegment,
)
from abstractcore.schema import to_data
from abstractcore.testing import CallStyle
from abstractcore.testing.sync_and_async import AsyncCalls
from tests.backend_doubles import PNG, WAV, Beeper, Painter, Records, WithBackend, call, spoken


def test_text_becomes_a_sound_file(call_style: CallStyle, with_backend: WithBackend, tmp_path: Path):
    llm = with_backend(voice=Beeper)
    result = call(call_style, llm.voice, "tts", "Hello there", voice="high")
    assert result.save(tmp_path / "hello.wav").read_bytes() == WAV
    assert (result.part.blob.media_type, result.part.transcript) == ("audio/wav", "Hello there")
    assert (result.backend, result.model, result.cost, result.warnings) == ("tests:voice", "beep-1", Decimal(0), ())
    assert result.metadata == {"voice": "high"}
    assert "<audio controls" in result._repr_html_()


def test_speech_arrives_in_parts(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper)
    parts, result = spoken(call_style, llm.voice, "one two three")
    assert [part.transcript for part in parts] == ["one", "two", "three"]
    assert [part.blob.read() for part in result.parts] == [b"one", b"two", b"three"]
    assert (result.model, result.metadata) == ("beep-1", {"voice": "low"})


def test_streamed_speech_is_saved_as_one_file(call_style: CallStyle, with_backend: WithBackend, tmp_path: Path):
    llm = with_backend(voice=Beeper)
    if isinstance(call_style, AsyncCalls):
        path = call_style.run(llm.voice.atts_stream("to be").save(tmp_path / "said.wav"))
    else:
        path = llm.voice.tts_stream("to be").save(tmp_path / "said.wav")
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.readframes(9)) == (8000, b"tobe")


def test_recording_becomes_text(call_style: CallStyle, with_backend: WithBackend, tmp_path: Path):
    llm = with_backend(voice=Beeper)
    path = tmp_path / "said.wav"
    path.write_bytes(WAV)
    heard = call(call_style, llm.voice, "stt", path, language="fr")
    assert isinstance(heard, TranscriptResult)
    assert heard.text == "52 bytes of audio/wav in fr"
    assert heard.transcript == Transcript((TranscriptSegment("52 bytes of audio/wav in fr"),))
    assert call(call_style, llm.voice, "stt", AudioPart(Blob.from_bytes(WAV, "audio/wav"))).text == (
        "52 bytes of audio/wav in en"
    )


def test_prompt_becomes_pictures_with_progress(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(vision=Painter)
    seen: list[CallProgress] = []
    result = call(call_style, llm.vision, "t2i", "a house", count=2, width=3, on_progress=seen.append)
    assert [part.blob.read() for part in result.parts] == [PNG, PNG]
    assert result.metadata == {"prompt": "a house", "size": [3, 1]}
    assert [(each.done, each.total, each.what) for each in seen] == [(n, 4, "steps") for n in (1, 2, 3, 4)]
    edited = call(call_style, llm.vision, "i2i", "a red house", result.part, mask=PNG)
    assert edited.part.blob.media_type == "image/png"
    assert call(call_style, llm.vision, "list_models", "t2i") == [{"id": "brush", "task": "t2i"}]


def test_voices_are_listed_by_id(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper)
    assert call(call_style, llm.voice, "list_voices") == [{"id": "low"}, {"id": "high", "name": "High"}]


def test_capability_without_backend_says_what_to_install(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper)
    with pytest.raises(CapabilityUnavailableError, match=r"no backend of llm\.music is installed.*abstractmusic"):
        call(call_style, llm.music, "t2m", "a waltz")
    with pytest.raises(CapabilityUnavailableError, match=r"llm\.vision"):
        call(call_style, llm.vision, "t2i", "a house")


def test_every_call_is_recorded_as_an_operation(call_style: CallStyle, with_backend: WithBackend, records: Records):
    llm = with_backend(voice=Beeper, tags={"who": "me"})
    call(call_style, llm.voice, "tts", "Hello", tags={"what": "greeting"})
    spoken(call_style, llm.voice, "one two")
    call(call_style, llm.voice, "stt", WAV)
    first, second, third = records()
    assert [each.operation for each in (first, second, third)] == ["tts", "tts_stream", "stt"]
    assert [each.provider for each in (first, second, third)] == ["tests:voice"] * 3
    assert [each.outcome for each in (first, second, third)] == ["done"] * 3
    assert first.tags == {"who": "me", "what": "greeting"}
    assert [each.call for each in (first, second, third)] == [None] * 3
    assert first.reply is not None
    assert third.reply is not None
    assert first.input == {"arguments": ["Hello"]}
    assert third.input == {"arguments": [to_data(AudioPart(Blob.from_bytes(WAV, "audio/wav")))]}
    (part,) = first.reply.parts
    assert isinstance(part, AudioPart)
    assert part.blob.read() == WAV
    assert (first.model, first.cost, len(first.attempts)) == ("beep-1", Decimal(0), 1)
    assert third.reply.text == "52 bytes of audio/wav in en"
    assert second.streamed
