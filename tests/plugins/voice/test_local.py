"""Voices on this machine, with real weights: files, streams, places in the text, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from abstractcore import LLM, AudioPart, CallProgress, InvalidInputError, Services
from abstractcore.testing.sync_and_async import CallStyle
from tests.backend_doubles import WAV, call, spoken
from tests.plugins.voice.sounds import samples, seconds

pytestmark = pytest.mark.weights

TEXT = "Hello **there**. It costs $5."


def about(part: AudioPart) -> Any:
    return part.provider_options["voice"]


@pytest.mark.smoke
def test_text_is_spoken_with_times_and_places(speaking: LLM, call_style: CallStyle) -> None:
    result = call(call_style, speaking.voice, "tts", TEXT)
    assert (result.model, result.cost, result.warnings) == ("piper-joe", 0, ())
    assert result.part.transcript == "Hello there. It costs five dollars."
    assert result.part.blob.media_type == "audio/wav"
    first, second = result.metadata["said"]
    assert [TEXT[each["source_start"] : each["source_end"]] for each in (first, second)] == [
        "Hello **there**.",
        "It costs $5.",
    ]
    assert second["at"] == pytest.approx(first["seconds"], abs=0.001)
    assert seconds(result.part.blob.read()) == pytest.approx(first["seconds"] + second["seconds"], abs=0.001)


@pytest.mark.parametrize(
    ("format", "media_type"),
    [("wav", "audio/wav"), ("mp3", "audio/mpeg"), ("opus", "audio/ogg"), ("flac", "audio/flac")],
)
def test_file_has_the_format_that_was_asked_for(speaking: LLM, format: str, media_type: str) -> None:
    result = speaking.voice.tts("Hello.", format=format)
    assert result.part.blob.media_type == media_type
    metadata: Any = result.metadata
    assert seconds(result.part.blob.read()) == pytest.approx(metadata["said"][0]["seconds"], abs=0.05)


def test_stream_says_the_same_as_the_file_without_gaps(speaking: LLM, call_style: CallStyle) -> None:
    text = "The train from Oslo to Bergen, which leaves at nine, is late. " * 2
    parts, result = spoken(call_style, speaking.voice, text)
    assert {part.blob.media_type for part in parts} == {"audio/pcm;rate=22050;channels=1"}
    assert len(parts) == 3  # two of the first sentence: the first sound comes sooner
    assert " ".join(part.transcript for part in parts) == text.strip()
    for before, after in pairwise(map(about, parts)):
        assert after["at"] == pytest.approx(before["at"] + before["seconds"], abs=0.001)
        assert before["source_end"] <= after["source_start"]
    sound = [np.frombuffer(part.blob.read(), "<i2") for part in parts]
    assert [len(each) / 22050 for each in sound] == pytest.approx([about(part)["seconds"] for part in parts], abs=0.001)
    assert all(abs(int(each[0])) < 50 and abs(int(each[-1])) < 50 for each in sound)  # no clicks at the joins
    assert result.model == "piper-joe"


def test_first_sound_comes_before_the_text_is_complete(speaking: LLM) -> None:
    taken: list[str] = []

    def pieces() -> Iterator[str]:
        for piece in ("Hello there. ", "How are ", "you? ", "I am well."):
            taken.append(piece)
            yield piece

    with speaking.voice.tts_stream(pieces()) as stream:
        assert next(stream).transcript == "Hello there."
        assert len(taken) == 2
        assert [part.transcript for part in stream] == ["How are you?", "I am well."]


@pytest.mark.parametrize("format", ["mp3", "opus", "flac", "wav"])
def test_parts_of_an_encoded_stream_are_one_file(speaking: LLM, format: str) -> None:
    with speaking.voice.tts_stream("Hello there. How are you?", format=format) as stream:
        parts = list(stream)
    length = sum(about(part)["seconds"] for part in parts if "voice" in part.provider_options)
    found, rate = samples(b"".join(part.blob.read() for part in parts))
    assert len(found) / rate == pytest.approx(length, abs=0.2)
    assert np.abs(found).max() > 0.1


def test_speed_changes_the_length(speaking: LLM) -> None:
    usual = seconds(speaking.voice.tts("This is a test of speed.").part.blob.read())
    assert seconds(speaking.voice.tts("This is a test of speed.", speed=2).part.blob.read()) < 0.7 * usual


def test_words_of_other_alphabets_are_left_out_with_a_warning(speaking: LLM) -> None:
    result = speaking.voice.tts("The word \u4f60\u597d means hello; S\u00f8ren knows.")
    assert result.part.transcript == "The word means hello; S\u00f8ren knows."
    assert [warning.code for warning in result.warnings] == ["unsupported_content"]
    assert "\u4f60\u597d" in result.warnings[0].message


def test_voices_are_listed_with_the_default_one_first(speaking: LLM, call_style: CallStyle) -> None:
    voices = call(call_style, speaking.voice, "list_voices")
    assert [voice["id"] for voice in voices[:3]] == ["joe", "heart", "bella"]
    assert len(voices) == 29
    assert {voice["language"] for voice in voices} == {"en-US", "en-GB"}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("Hello.", {"voice": "hart"}, "voice: no voice on this machine is called 'hart'. Is it heart?"),
        ("Hello.", {"voice": "zzzz"}, "The voices are adam, alice"),
        ("Hello.", {"format": "mp4"}, "no format of sound is called 'mp4'. Is it mp3?"),
        ("Hello.", {"speed": 9}, "speed 9: expected a number from 0.25 to 4"),
        ("Hello.", {"speed": "fast"}, "speed 'fast': expected a number"),
        ("Hello.", {"language": "fr"}, "speak English, not 'fr'"),
        ("***", {}, "there is nothing to say in the text"),
        ("\u4f60\u597d", {}, "there is nothing to say in the text"),
        ("word " * 50_000, {}, "a text of 250,000 characters is too long for one file. Use tts_stream"),
    ],
)
def test_bad_input_is_refused(speaking: LLM, text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message.replace("(", r"\(")):
        speaking.voice.tts(text, **options)


def test_empty_stream_has_nothing_to_say(speaking: LLM) -> None:
    stream = speaking.voice.tts_stream(iter(["\n", "---"]))
    with pytest.raises(InvalidInputError, match="nothing to say"), stream:
        list(stream)


def test_recordings_are_transcribed_by_the_audio_backend(
    speaking: LLM, voice_services: Services, call_style: CallStyle
) -> None:
    class Listener:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        def transcribe(self, audio: bytes, *, language: str = "") -> str:
            self.owner.progress(3, 4, "seconds")
            return f"{len(audio)} bytes in {language}"

    def register(registry: Any) -> None:
        registry.register_audio_backend(backend_id="tests:listener", factory=Listener, priority=100)

    voice_services.registry.add_backends(register)
    seen: list[CallProgress] = []
    result = call(call_style, speaking.voice, "stt", WAV, language="fr", on_progress=seen.append)
    assert (result.text, result.backend) == ("52 bytes in fr", "abstractvoice:local")
    assert seen == [CallProgress(3, 4, "seconds")]
