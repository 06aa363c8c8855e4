"""`SoundSource`: where the sound of a sentence comes from; `RequestedSound`: from an HTTP request for each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from abstractcore import RequestTimeoutError
from abstractcore.ports import Body, Runtime

from .calls import VendorCalls
from .formats.format import SpeechFormat
from .requests import SpeechText
from .sound_pieces import SoundPiece

IDLE_SECONDS = 60.0
"""A vendor that sends nothing for as long has failed."""


class SoundSource(Protocol):
    """Speaks sentences one after the other."""

    def speak(self, asked: SpeechText) -> AsyncGenerator[SoundPiece]:
        """Yields the sound of a sentence as it arrives. Raises errors of the vendor."""
        ...

    async def close(self) -> None:
        """Ends the connection."""
        ...


class RequestedSound:
    """Sends a request for each sentence. Nothing is requested again once a part of its sound has arrived."""

    def __init__(self, runtime: Runtime, calls: VendorCalls, format: SpeechFormat) -> None:
        self._runtime = runtime
        self._calls = calls
        self._format = format

    async def speak(self, asked: SpeechText) -> AsyncGenerator[SoundPiece]:
        """Yields the sound of a sentence. Raises `RequestTimeoutError` if nothing arrives for `IDLE_SECONDS`."""
        async with self._calls.opened(self._format.speech(asked)) as body:
            decoder = self._format.decoder(body.headers.get("content-type", "").lower())
            while chunk := await self._read(body):
                yield SoundPiece(decoder.feed(chunk))
        decoder.finish()
        yield SoundPiece(usage=decoder.usage)

    async def close(self) -> None:
        """Does nothing: each request ends by itself."""

    async def _read(self, body: Body) -> bytes:
        rung: list[bool] = []

        def ring() -> None:
            rung.append(True)
            body.abort()

        alarm_off = self._runtime.alarm(IDLE_SECONDS, ring)
        try:
            return await body.read()
        except Exception:
            if rung:
                raise RequestTimeoutError(f"no sound arrived for {IDLE_SECONDS:.0f} s") from None
            raise
        finally:
            alarm_off()
