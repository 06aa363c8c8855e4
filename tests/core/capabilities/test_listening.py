"""`llm.voice.stt` without a voice that listens: by the backend of `llm.audio`."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import CapabilityUnavailableError
from abstractcore.testing.sync_and_async import CallStyle
from tests.backend_doubles import WAV, Records, WithBackend, call


class Speaker:
    """A voice that does not listen."""

    def __init__(self, owner: Any) -> None: ...

    def tts(self, text: str) -> bytes:
        return WAV


class Listener:
    """A backend of `llm.audio`."""

    def __init__(self, owner: Any) -> None: ...

    def transcribe(self, audio: bytes, *, language: str = "en") -> str:
        return f"{len(audio)} bytes in {language}"


def test_audio_backend_listens_for_a_voice_that_does_not(
    call_style: CallStyle, with_backend: WithBackend, records: Records
) -> None:
    llm = with_backend(voice=Speaker, audio=Listener)
    result = call(call_style, llm.voice, "stt", WAV, language="fr")
    assert (result.text, result.backend) == ("52 bytes in fr", "tests:audio")
    (record,) = records()
    assert record.operation == "transcribe"


def test_audio_backend_listens_without_any_voice(call_style: CallStyle, with_backend: WithBackend) -> None:
    assert call(call_style, with_backend(audio=Listener).voice, "stt", WAV).text == "52 bytes in en"


def test_without_any_listener_the_error_says_what_to_install(call_style: CallStyle, with_backend: WithBackend) -> None:
    with pytest.raises(CapabilityUnavailableError, match=r"no backend of llm\.audio is installed"):
        call(call_style, with_backend(voice=Speaker).voice, "stt", WAV)


@pytest.mark.parametrize("voices", [{"voice": Speaker}, {}])
def test_backend_that_is_not_there_is_an_error_and_no_other_one_listens(
    call_style: CallStyle, with_backend: WithBackend, voices: dict[str, Any]
) -> None:
    llm = with_backend(**voices, audio=Listener, voice_backend="nobody")
    with pytest.raises(CapabilityUnavailableError):
        call(call_style, llm.voice, "stt", WAV)
