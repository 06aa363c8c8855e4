"""Types of `llm.voice`, `llm.audio`, `llm.vision` and `llm.music`, for the type checker. Checked by `make check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, assert_type

from abstractcore import (
    AsyncSpeechStream,
    AudioPart,
    Blob,
    CallProgress,
    DocumentPart,
    GenerateResponse,
    ImagePart,
    MediaResult,
    SpeechStream,
    Transcript,
    TranscriptResult,
    VideoPart,
    Vision,
    create_llm,
)
from abstractcore.ports import BackendOwner, BackendRegistry, CapabilityServices, Made

llm = create_llm("scripted", replies=[], voice_backend="mine")


def show(progress: CallProgress) -> None:
    print(progress.done, progress.total, progress.what, progress.part)


assert_type(llm.voice.tts("hi", voice="low", speed=1.5, timeout=3), MediaResult[AudioPart])
assert_type(llm.voice.tts("hi").part.transcript, str | None)
assert_type(llm.voice.tts("hi").save("a.wav"), Path)
assert_type(llm.voice.tts_stream("hi"), SpeechStream)
assert_type(llm.voice.tts_stream(llm.stream("hi").text()), SpeechStream)
assert_type([*llm.voice.tts_stream("hi")], list[AudioPart])
assert_type(llm.voice.stt("a.wav", terms=["Ann"]), TranscriptResult)
assert_type(llm.audio.transcribe(Path("a.wav"), language="en", words=True).transcript, Transcript)
assert_type(llm.vision.t2i("a house", width=64, on_progress=show), MediaResult[ImagePart])
assert_type(llm.vision.i2i("a red house", Blob.from_bytes(b"", "image/png"), mask=b"").parts, tuple[ImagePart, ...])
assert_type(llm.vision.upscale_image("a.png", scale=2), MediaResult[ImagePart])
assert_type(llm.vision.t2v("a house", seconds=3), MediaResult[VideoPart])
assert_type(llm.vision.i2v("a.png", prompt="it rains"), MediaResult[VideoPart])
assert_type(llm.music.t2m("a waltz", lyrics="la", tempo=90).part, AudioPart | DocumentPart)

llm.voice.tts("hi", speed="fast")  # pyright: ignore[reportArgumentType]
llm.voice.tts("hi", spead=1.5)  # pyright: ignore[reportCallIssue]
llm.voice.tts(3)  # pyright: ignore[reportArgumentType]
llm.audio.transcribe(3)  # pyright: ignore[reportArgumentType]
more: dict[str, Any] = {"steps": 20}
llm.vision.t2i("a house", **more)


class Greeter:
    capability = "hello"

    def __init__(self, options: Mapping[str, Any], services: CapabilityServices) -> None:
        self.services = services

    def greet(self, name: str) -> str:
        assert_type(self.services.generate(f"Greet {name}", model="openai/gpt-5.4-mini"), GenerateResponse[Any])
        return name


class Greets(Protocol):
    def greet(self, name: str) -> str: ...


assert_type(llm.capability(Greeter), Greeter)
assert_type(llm.capability(Vision), Vision)
assert_type(llm.capability("hello", Greeter), Greeter)
assert_type(llm.capability("hello", Greets), Greets)
assert_type(llm.capability("hello", Callable[[str], str]), Callable[[str], str])
assert_type(llm.capability("hello"), Any)
llm.capability("hello", Greets).walk()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


class Backend:
    def __init__(self, owner: BackendOwner) -> None:
        assert_type(owner.config, dict[str, Any])
        self.owner = owner

    async def tts(self, text: str) -> Made:
        await self.owner.runtime.sleep(0.1)
        return Made.of(b"", "audio/wav", transcript=text)


def register(registry: BackendRegistry) -> None:
    registry.register_voice_backend(backend_id="mine", factory=Backend, priority=1)


async def asynchronous() -> None:
    assert_type(await llm.voice.atts("hi"), MediaResult[AudioPart])
    assert_type(llm.voice.atts_stream("hi"), AsyncSpeechStream)
    async with llm.astream("hi") as stream, llm.voice.atts_stream(stream.text()) as speech:
        async for part in speech:
            assert_type(part, AudioPart)
        assert_type(speech.result, MediaResult[AudioPart])
    assert_type(await llm.audio.atranscribe("a.wav"), TranscriptResult)
    assert_type(await llm.vision.at2i("a house"), MediaResult[ImagePart])
    assert_type(await llm.music.at2m("a waltz"), MediaResult[AudioPart | DocumentPart])
