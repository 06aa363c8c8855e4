"""`SpeechStream` and `AsyncSpeechStream`: the parts of speech as they are made, and joined as one file."""

from __future__ import annotations

import io
import os
import re
import wave
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .. import engine
from ..concurrency import drive
from ..copying import NotCopied
from ..errors import InvalidInputError
from ..schema import AudioPart, Blob, Delta, MediaResult, PartDelta
from .backends import Backend
from .facade import facts_of, parts_of

_PCM = re.compile(r"audio/pcm;rate=(\d+);channels=(\d+)")
_SAMPLE_BYTES = 2


class _SpeechStreamBase(NotCopied):
    """A streamed call of a backend."""

    _holds = "a running call"
    _instead = "Read it to its end, and pass on `stream.result`."

    def __init__(self, backend: Backend, call: engine.CallStream) -> None:
        self._backend = backend
        self._call = call
        self._waiting: deque[AudioPart] = deque()

    @property
    def result(self) -> MediaResult[AudioPart]:
        """All parts with the facts of the call, once the stream has been read to its end; before that
        `StreamInterruptedError`.
        """
        response = self._call.response
        return MediaResult(parts=parts_of(self._backend, response, AudioPart), **facts_of(self._backend, response))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._backend.id}: {self._call.state}>"

    def _take(self, batch: list[Delta]) -> None:
        parts = [delta.part for delta in batch if isinstance(delta, PartDelta)]
        self._waiting += [part for part in parts if isinstance(part, AudioPart)]


class SpeechStream(_SpeechStreamBase):
    """The parts of speech, in order: `for part in stream`. `transcript` of each is what is said in it."""

    def __iter__(self) -> SpeechStream:
        return self

    def __next__(self) -> AudioPart:
        while not self._waiting:
            batch = drive(self._call.read())
            if not batch:
                raise StopIteration
            self._take(batch)
        return self._waiting.popleft()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Reads the stream to its end, and writes all of its parts as one file; speech in PCM as WAV."""
        for _ in self:
            pass
        return one_part(self.result.parts).save(path)

    def close(self) -> None:
        """Ends the call. May be called from another thread, whose read raises `StreamInterruptedError`."""
        drive(self._call.close())

    def __enter__(self) -> SpeechStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncSpeechStream(_SpeechStreamBase):
    """The async version of `SpeechStream`, for `async with` and `async for`."""

    def __aiter__(self) -> AsyncSpeechStream:
        return self

    async def __anext__(self) -> AudioPart:
        while not self._waiting:
            batch = await self._call.read()
            if not batch:
                raise StopAsyncIteration
            self._take(batch)
        return self._waiting.popleft()

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """As `SpeechStream.save`."""
        async for _ in self:
            pass
        return one_part(self.result.parts).save(path)

    async def close(self) -> None:
        """Ends the call."""
        await self._call.close()

    async def __aenter__(self) -> AsyncSpeechStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def one_part(parts: Sequence[AudioPart]) -> AudioPart:
    """Returns the parts of one stream as one file, with all that is said; samples as WAV.

    Raises `InvalidInputError` without any part.
    """
    if not parts:
        raise InvalidInputError("there is no speech: the text has nothing to say", path="text")
    media_type = parts[0].blob.media_type
    data = b"".join(part.blob.read() for part in parts)
    found = _PCM.fullmatch(media_type)
    if found is not None:
        data, media_type = as_wav(data, int(found[1]), int(found[2])), "audio/wav"
    said = " ".join(part.transcript for part in parts if part.transcript)
    return AudioPart(Blob.from_bytes(data, media_type), transcript=said or None)


def as_wav(samples: bytes, rate: int, channels: int) -> bytes:
    """Returns samples of 16 bits as a WAV file."""
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setparams((channels, _SAMPLE_BYTES, rate, 0, "NONE", "not compressed"))
        file.writeframes(samples)
    return sink.getvalue()
