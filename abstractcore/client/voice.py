"""`Voice`: `llm.voice`, which also speaks the answers of its LLM."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import capabilities
from ..capabilities.replies import Reply
from ..capabilities.voice import streamed_speech
from ..errors import InvalidInputError
from ..option_signatures import takes
from .option_values import seconds
from .options import ReplyRequest
from .spoken_replies import AsyncSpokenReply, SpokenReply

if TYPE_CHECKING:
    from ..capabilities.backends import Backend
    from ..engine import CallStream, Pipeline

_SPEECH = ("voice", "format", "speed", "instructions", "language")
_NOT_SPOKEN = ("evidence", "modalities", "output_check", "verify")
_IDLE_SECONDS = 60.0


class Voice(capabilities.Voice):
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
        answer = self._caller.llm().prepared(prompt, of_call, stream=True).open_stream(pipeline)
        self._backends.with_method("tts_stream")  # raises before anything is sent
        return Reply(pipeline.runtime, cast(Any, answer), partial(self._speak, pipeline, {**spoken, **of_both}), idle)

    def _speak(
        self, pipeline: Pipeline, options: Mapping[str, Any], text: AsyncIterator[str], parent_id: str | None
    ) -> tuple[Backend, CallStream]:
        options = {**options, "timeout": None, "parent_id": parent_id}
        return self._calls.stream(pipeline, streamed_speech(text, options))
