"""`generate(modalities=[...])`: what the model does not produce is made of its answer by backends."""

from __future__ import annotations

from typing import Any

import pytest

from abstractcore import (
    BackendError,
    GenerateResponse,
    RequestTimeoutError,
    UnsupportedOptionError,
    from_json,
    to_json,
)
from abstractcore.ports import Made
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, WAV, Beeper, Painter, Records, WithBackend

TEXT_ONLY: dict[str, Any] = {"facts": {"produces": []}}


def test_answer_is_spoken_and_drawn_by_backends(call_style: CallStyle, with_backend: WithBackend, records: Records):
    llm = with_backend(voice=Beeper, vision=Painter, replies=["A calm sea."], **TEXT_ONLY)
    response = call_style.generate(llm, "Describe the sea.", modalities=["text", "audio", "image"])
    assert response.content == "A calm sea."
    spoken, drawn = response.made
    assert (spoken.backend, drawn.backend) == ("tests:voice", "tests:vision")
    assert (response.audio[0].blob.read(), response.audio[0].transcript) == (WAV, "A calm sea.")
    assert response.images[0].blob.read() == PNG
    assert drawn.metadata["prompt"] == "Describe the sea."
    assert response.warnings == ()
    assert [(each.operation, each.parent_id) for each in records()] == [
        ("chat", None),
        ("tts", response.trace_id),
        ("t2i", response.trace_id),
    ]
    assert llm.calls[0].modalities == ("text",)
    again = from_json(to_json(response))
    assert isinstance(again, GenerateResponse)
    assert again.made == response.made


def test_model_that_speaks_itself_is_left_alone(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper, replies=["Hello.", "Hello."], facts={"produces": ["audio"]})
    response = call_style.generate(llm, "Hi", modalities=["text", "audio"])
    assert response.made == ()
    assert llm.calls[0].modalities == ("text", "audio")


def test_without_a_backend_there_is_a_warning(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(vision=Painter, replies=["Hello.", "Hello."], **TEXT_ONLY)
    response = call_style.generate(llm, "Hi", modalities=["text", "audio"])
    assert [(each.code, each.path) for each in response.warnings] == [("unsupported_option", "modalities")]
    with pytest.raises(UnsupportedOptionError):
        call_style.generate(llm, "Hi", modalities=["text", "audio"], strict=True)


def test_streams_are_not_spoken(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper, replies=["Hello."], **TEXT_ONLY)
    with call_style.stream(llm, "Hi", modalities=["text", "audio"]) as stream:
        list(stream)
    assert stream.response.made == ()
    assert [each.path for each in stream.response.warnings] == ["modalities"]


def test_empty_answer_is_not_spoken(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper, replies=[""], **TEXT_ONLY)
    assert call_style.generate(llm, "Hi", modalities=["audio"]).made == ()


def test_answer_survives_a_backend_that_fails(call_style: CallStyle, with_backend: WithBackend):
    class Mute(Beeper):
        def tts(self, text: str, *, voice: str = "low", format: str = "wav") -> Made:
            raise OSError("no device")

    llm = with_backend(voice=Mute, replies=["Hello."], **TEXT_ONLY)
    with pytest.raises(BackendError, match="no device") as caught:
        call_style.generate(llm, "Hi", modalities=["audio"])
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hello."


def test_time_limit_covers_both(call_style: CallStyle, with_backend: WithBackend):
    class Slow:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def tts(self, text: str) -> Made:
            await self.owner.runtime.sleep(60)
            raise AssertionError("not reached")

    llm = with_backend(voice=Slow, replies=["Hello."], **TEXT_ONLY)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "Hi", modalities=["audio"], timeout=0.2)
