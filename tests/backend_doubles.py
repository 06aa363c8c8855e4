"""Backends in memory, and calls of capabilities in both colours."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from abstractcore import LLM, CallRecord
from abstractcore.ports import Made
from abstractcore.registry import FoundPlugin, found_plugins
from abstractcore.testing.sync_and_async import AsyncCalls

_SAMPLES = bytes(range(8))
_FORMAT = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
WAV = b"RIFF" + struct.pack("<I", 44) + b"WAVE" + _FORMAT + b"data" + struct.pack("<I", len(_SAMPLES)) + _SAMPLES
"""A recording of half a millisecond."""
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""An image of one pixel."""


WithBackend: TypeAlias = Callable[..., LLM]
Records: TypeAlias = Callable[[], list[CallRecord]]


def leave_out_installed_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registries find no installed backends, as if no package had any."""

    def found(*group: str) -> list[FoundPlugin]:
        return [] if group else found_plugins()

    monkeypatch.setattr("abstractcore.registry.registry.found_plugins", found)


def call(call_style: Any, facade: Any, method: str, *arguments: Any, **options: Any) -> Any:
    """Calls a method of a capability, or its async twin."""
    if isinstance(call_style, AsyncCalls):
        return call_style.run(getattr(facade, f"a{method}")(*arguments, **options))
    return getattr(facade, method)(*arguments, **options)


def spoken(call_style: Any, facade: Any, text: Any, **options: Any) -> tuple[list[Any], Any]:
    """Returns the parts of streamed speech, and the result."""
    if not isinstance(call_style, AsyncCalls):
        with facade.tts_stream(text, **options) as stream:
            return list(stream), stream.result

    async def read() -> tuple[list[Any], Any]:
        async with facade.atts_stream(text, **options) as stream:
            return [part async for part in stream], stream.result

    return call_style.run(read())


class Beeper:
    """A sync backend of voices: speaks every word as its letters."""

    is_local = True

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def tts(self, text: str, *, voice: str = "low", format: str = "wav") -> Made:
        return Made.of(WAV, f"audio/{format}", transcript=text, model="beep-1", metadata={"voice": voice})

    def tts_stream(self, text: str, *, voice: str = "low") -> Iterator[Made]:
        for word in text.split():
            yield Made.of(word.encode(), "audio/pcm;rate=8000;channels=1", transcript=word)
        yield Made((), model="beep-1", metadata={"voice": voice})

    def stt(self, audio: Any, *, language: str = "en") -> str:
        return f"{len(audio)} bytes of {audio.media_type} in {language}"

    def list_voices(self) -> list[Any]:
        return ["low", {"id": "high", "name": "High"}]


class Painter:
    """An async backend of images, which waits through its owner."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    async def t2i(self, prompt: str, *, width: int = 1, height: int = 1, count: int = 1, steps: int = 4) -> Made:
        for step in range(steps):
            await self.owner.runtime.sleep(0)
            self.owner.progress(step + 1, steps, "steps")
        pictures: Any = [Made.of(PNG, "image/png").content for _ in range(count)]
        return Made(pictures, metadata={"prompt": prompt, "size": [width, height]})

    async def i2i(self, prompt: str, image: Any, *, mask: Any = None) -> bytes:
        assert bytes(image).startswith(b"\x89PNG")
        return bytes(mask if mask is not None else image)

    async def list_models(self, *, task: str = "all") -> list[dict[str, str]]:
        return [{"id": "brush", "task": task}]
