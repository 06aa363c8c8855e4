"""Plugins that were written for other releases of this contract: sync, with `**kwargs`, bytes and mappings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import LLM, AudioPart, Services, create_llm
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, WAV, call, spoken


class OldVoice:
    """Speaks and listens as published plugins do: its options are read with `owner.config`, which must be a dict, and
    its stream holds a lock and yields events.
    """

    backend_id = "old:voice"

    def __init__(self, owner: Any) -> None:
        self._config: dict[str, Any] = owner.config
        assert type(self._config) is dict
        self._lock = threading.RLock()

    def tts(
        self,
        text: str,
        *,
        voice: str | None = None,
        format: str = "wav",
        artifact_store: Any = None,
        run_id: str | None = None,
        **_kwargs: Any,
    ) -> Any:
        assert artifact_store is None
        assert run_id is None
        self.heard = {"text": text, "voice": voice, "format": format, **_kwargs, **self._config}
        return bytes(WAV)

    def tts_stream(
        self, text: str, *, voice: str | None = None, cancel_event: threading.Event | None = None, **_kwargs: Any
    ) -> Iterator[dict[str, Any]]:
        def events() -> Iterator[dict[str, Any]]:
            count = 0
            with self._lock:
                for _ in text.split():
                    yield {"type": "audio", "content_type": "audio/wav", "audio": WAV, "sequence": count}
                    count += 1
            yield {"type": "done", "ok": True, "chunks": count}

        return events()

    def stt(self, audio: Any, *, language: str | None = None, **_kwargs: Any) -> str:
        if isinstance(audio, str):
            return f"the file {audio}"
        if isinstance(audio, bytes | bytearray):
            return f"{len(bytes(audio))} bytes, {language or 'any language'}"
        raise TypeError("Unsupported input type; expected bytes, artifact-ref dict, or file path")

    def list_voices(self, **_kwargs: Any) -> dict[str, Any]:
        return {"ok": True, "voices": [{"voice_id": "amy"}], "count": 1}


class OldListener(OldVoice):
    """Transcribes."""

    def transcribe(self, audio: Any, *, language: str | None = None, **_kwargs: Any) -> str:
        return self.stt(audio, language=language)


class OldVision:
    """Takes any argument and returns bytes."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def t2i(self, prompt: str, **kwargs: Any) -> bytes:
        self.given = kwargs
        return PNG

    def i2i(self, prompt: str, image: bytes | dict[str, Any] | str, **kwargs: Any) -> dict[str, Any]:
        assert isinstance(image, bytes)
        assert isinstance(kwargs.get("mask", b""), bytes)
        return {"content": bytes(image), "content_type": "image/png"}

    def list_provider_models(self, *, task: str | None = None) -> list[dict[str, Any]]:
        return [{"id": "m", "task": task}]


class OldMusic:
    """Refuses formats with an error of its own."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def t2m(
        self, prompt: str, *, lyrics: str | None = None, format: str = "wav", artifact_store: Any = None, **kwargs: Any
    ) -> bytes:
        self.given = {"lyrics": lyrics, "format": format, **kwargs}
        return WAV


def make_voice(owner: Any) -> OldVoice:
    return OldVoice(owner)


def register(registry: Any) -> None:
    """As the entry points of published plugins."""
    registry.register_voice_backend(
        backend_id=OldVoice.backend_id,
        factory=make_voice,
        priority=0,
        description="TTS and STT.",
        config_hint="Set voice_tts_engine.",
    )
    registry.register_audio_backend(
        backend_id="old:stt", factory=OldListener, priority=0, description="STT.", config_hint=""
    )
    registry.register_vision_backend(backend_id="old:openai", factory=OldVision, priority=0)
    registry.register_vision_backend(backend_id="old:legacy", factory=OldVision, priority=-1)
    registry.register_backend(capability="music", backend_id="old:music", factory=OldMusic)


@pytest.fixture
def llm(services: Services) -> LLM:
    services.registry.add_backends(register)
    options: dict[str, Any] = {"voice_tts_engine": "piper", "music_duration_s": 3}
    return create_llm("scripted", replies=[], services=services, **options)


def test_speech_of_bytes(call_style: CallStyle, llm: LLM):
    result = call(call_style, llm.voice, "tts", "Hello", voice="amy", speed=1.5)
    assert isinstance(result.part, AudioPart)
    assert (result.part.blob.media_type, result.part.blob.read()) == ("audio/wav", WAV)
    assert (result.backend, result.warnings, result.cost) == ("old:voice", (), None)
    assert result.cost_reason == "no price is known for the backend old:voice"


def test_arguments_that_were_not_given_are_left_to_the_backend(llm: LLM):
    llm.voice.tts("Hello")
    voice: Any = llm.voice.backend("tts")
    assert voice.heard == {
        "text": "Hello",
        "voice": None,
        "format": "wav",
        "voice_tts_engine": "piper",
        "music_duration_s": 3,
    }


def test_speech_of_events(call_style: CallStyle, llm: LLM):
    parts, result = spoken(call_style, llm.voice, "one two")
    assert [part.blob.media_type for part in parts] == ["audio/wav"] * 2
    assert len(result.parts) == 2


def test_transcripts_of_text(call_style: CallStyle, llm: LLM, tmp_path: Path):
    (tmp_path / "said.wav").write_bytes(WAV)
    assert call(call_style, llm.voice, "stt", tmp_path / "said.wav").text == "52 bytes, any language"
    assert call(call_style, llm.audio, "transcribe", WAV, language="en").text == "52 bytes, en"


def test_voices_and_models_in_mappings(call_style: CallStyle, llm: LLM):
    assert call(call_style, llm.voice, "list_voices") == [{"id": "amy", "voice_id": "amy"}]
    assert call(call_style, llm.vision, "list_models", "text_to_image") == [{"id": "m", "task": "text_to_image"}]


def test_images_of_bytes_and_mappings(call_style: CallStyle, llm: LLM):
    drawn = call(call_style, llm.vision, "t2i", "a house", width=64, seed=7)
    assert (drawn.part.blob.media_type, drawn.backend) == ("image/png", "old:openai")
    vision: Any = llm.vision.backend("t2i")
    assert vision.given == {"width": 64, "seed": 7}
    edited = call(call_style, llm.vision, "i2i", "a red house", drawn.part, mask=PNG)
    assert edited.part.blob.read() == PNG


def test_music_of_bytes(call_style: CallStyle, llm: LLM):
    call(call_style, llm.music, "t2m", "a waltz", lyrics="la", seconds=2)
    music: Any = llm.music.backend("t2m")
    assert music.given == {"lyrics": "la", "format": "wav", "seconds": 2}


def test_backend_is_named_by_an_option(call_style: CallStyle, services: Services):
    services.registry.add_backends(register)
    options: dict[str, Any] = {"vision_backend": "legacy"}
    llm = create_llm("scripted", replies=[], services=services, **options)
    assert call(call_style, llm.vision, "t2i", "a house").backend == "old:legacy"
    assert llm.vision.backends == ["old:legacy"]
