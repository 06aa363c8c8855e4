"""`Voice`: `llm.voice`, which also speaks the answers of its LLM, as `SpokenReply` and `AsyncSpokenReply`."""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from .. import capabilities
from ..capabilities.replies import Reply
from ..capabilities.speech_streams import one_part
from ..capabilities.voice import speech_stream_request
from ..concurrency import drive
from ..copying import NotCopied
from ..errors import InvalidInputError
from ..option_help import takes
from ..schema import AudioPart, GenerateResponse, HeardReply, Message, SpokenPiece
from ..schema.reprs import short_repr
from .option_values import seconds
from .options import ReplyRequest

if TYPE_CHECKING:
    from ..capabilities.backends import Backend
    from ..concurrency import LoopCloser
    from ..engine import CallStream, Pipeline
    from ..engine.interactions import InteractionTrace

_SPEECH = ("voice", "format", "speed", "instructions", "language")
_NOT_SPOKEN = ("evidence", "modalities", "output_check", "verify")
_IDLE_SECONDS = 60.0


class Voice(capabilities.VoiceFacade):
    """Speaks and listens. Its backend is chosen by `voice_backend=...` in `create_llm`; other options that begin with
    `voice_` are the backend's.
    """

    @takes(ReplyRequest)
    def reply(self, prompt: str | None = None, **request: Unpack[ReplyRequest]) -> SpokenReply:
        """Asks the model, and speaks its answer sentence by sentence while the text arrives.

        `for part in reply` yields the speech as `tts_stream` does. The request is sent at the first read; then text and
        speech are made in the background, speech up to 10 seconds ahead of what was read. Use `with`, or `close` it.

        Raises what `stream` and `tts_stream` raise, and `RequestTimeoutError` if neither text nor sound arrives for
        `idle_timeout` seconds.
        """
        return SpokenReply(self._reply(self._caller.sync(), prompt, request))

    @takes(ReplyRequest)
    def areply(self, prompt: str | None = None, **request: Unpack[ReplyRequest]) -> AsyncSpokenReply:
        """The async version of `reply`, for `async with` and `async for`."""
        return AsyncSpokenReply(self._reply(self._caller.asynchronous(), prompt, request))

    def _reply(self, pipeline: Pipeline, prompt: str | None, request: Mapping[str, Any]) -> Reply:
        self._caller.check_open()
        for name in _NOT_SPOKEN:
            if request.get(name):
                raise InvalidInputError("is not for spoken replies", path=name, hint=f"Leave out {name}.")
        idle = seconds(request.get("idle_timeout", _IDLE_SECONDS), "idle_timeout")
        spoken = {name: request[name] for name in _SPEECH if request.get(name) is not None}
        of_call = {name: value for name, value in request.items() if name not in {*_SPEECH, "idle_timeout"}}
        of_both = {name: of_call[name] for name in ("strict", "tags") if of_call.get(name) is not None}
        prepared, trace = self._caller.llm().prepared(prompt, of_call, stream=True).in_interaction(pipeline)
        answer = prepared.open_stream(pipeline)
        self._backends.with_method("tts_stream")  # raises before anything is sent
        speak = partial(self._speak, pipeline, {**spoken, **of_both}, trace)
        return Reply(pipeline.runtime, answer, speak, idle, trace)

    def _speak(
        self,
        pipeline: Pipeline,
        options: Mapping[str, Any],
        trace: InteractionTrace | None,
        text: AsyncIterator[str],
        parent_id: str | None,
    ) -> tuple[Backend, CallStream]:
        options = {**options, "timeout": None, "parent_id": parent_id}
        return self._calls.stream(pipeline, speech_stream_request(text, options).within(trace))


class _SpokenReplyBase(NotCopied):
    _holds = "a running call"
    _instead = "Read it to its end, and pass on what it has then, such as `reply.text`."

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    @property
    def text(self) -> str:
        """The text that the model has written so far."""
        return self._reply.written

    @property
    def said(self) -> tuple[SpokenPiece, ...]:
        """What the parts so far say: the words as spoken, their times, and the characters of `text` they stand for."""
        return self._reply.pieces.all

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response, with the speech in `made`, once all parts have been read; before that
        `StreamInterruptedError`.
        """
        return self._reply.response

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to add to the conversation: those of the response; after `interrupt` what was heard of them."""
        return self._reply.messages

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {short_repr(self.text)} so far>"

    def _seconds_played(self, played_seconds: float | None, played_samples: int | None) -> float | None:
        for name, value in (("played_seconds", played_seconds), ("played_samples", played_samples)):
            if value is not None and (isinstance(value, bool) or not value >= 0):
                raise InvalidInputError(f"expected a number of at least 0, got {value!r}", path=name)
        if played_samples is None:
            return played_seconds
        rate = self._reply.pieces.rate
        if played_seconds is not None or (rate is None and played_samples > 0):
            reason = "of both, give one" if played_seconds is not None else "the speech is not in samples"
            raise InvalidInputError(reason, path="played_samples", hint="Pass played_seconds=SECONDS.")
        return played_samples / (rate or 1)


class SpokenReply(_SpokenReplyBase):
    """The parts of a spoken answer, in order: `for part in reply`. `transcript` of each is what is said in it."""

    def __iter__(self) -> SpokenReply:
        return self

    def __next__(self) -> AudioPart:
        part = drive(self._reply.read())
        if part is None:
            raise StopIteration
        return part

    def interrupt(self, *, played_seconds: float | None = None, played_samples: int | None = None) -> HeardReply:
        """Ends the reply, and returns what was heard of it; `messages` are those of what was heard from then on.

        Pass how much of the speech was played; without it, all parts that were read count as heard. It may be called
        from another thread, whose reader's loop ends, and after the end, while the speech is still played.
        """
        return drive(self._reply.interrupt(self._seconds_played(played_seconds, played_samples)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Reads the reply to its end, and writes all of its speech to a file; speech in PCM as WAV."""
        for _ in self:
            pass
        return one_part(self.response.audio).save(path)

    def close(self) -> None:
        """Ends the reply. A reader in another thread gets `StreamInterruptedError`."""
        drive(self._reply.close())

    def __enter__(self) -> SpokenReply:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._reply.is_open:
            self._reply.abort()


class AsyncSpokenReply(_SpokenReplyBase):
    """The async version of `SpokenReply`, for `async with` and `async for`."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply)
        self._closer: LoopCloser | None = None

    def __aiter__(self) -> AsyncSpokenReply:
        return self

    async def __anext__(self) -> AudioPart:
        if self._closer is None:
            from ..concurrency import LoopCloser

            self._closer = LoopCloser(self._reply.close)
        try:
            part = await self._reply.read()
        finally:
            self._forget_if_ended()
        if part is None:
            raise StopAsyncIteration
        return part

    async def interrupt(self, *, played_seconds: float | None = None, played_samples: int | None = None) -> HeardReply:
        """As `SpokenReply.interrupt`, also from another task."""
        heard = await self._reply.interrupt(self._seconds_played(played_seconds, played_samples))
        self._forget_if_ended()
        return heard

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """As `SpokenReply.save`."""
        async for _ in self:
            pass
        return one_part(self.response.audio).save(path)

    async def close(self) -> None:
        """Ends the reply."""
        await self._reply.close()
        self._forget_if_ended()

    async def __aenter__(self) -> AsyncSpokenReply:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _forget_if_ended(self) -> None:
        if self._closer is not None and not self._reply.is_open:
            self._closer.forget()

    def __del__(self, _warn: Any = warnings.warn) -> None:
        if self._reply.is_open:
            if self._closer is None or not self._closer.soon():
                self._reply.abort()
            _warn("an open reply was dropped: use it with `async with`", ResourceWarning, stacklevel=2, source=self)
