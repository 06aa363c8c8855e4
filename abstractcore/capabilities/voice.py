"""`VoiceFacade`: `llm.voice`, speech of texts and texts of speech."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Mapping
from typing import Any, Unpack

from ..concurrency import drive
from ..engine import Pipeline
from ..errors import CapabilityUnavailableError, InvalidInputError
from ..option_help import takes
from ..schema import AudioPart, JSONObject, MediaResult, TranscriptResult
from .arguments import TextPieces, checked_text
from .audio import Audio
from .calls import BackendRequest
from .facade import Facade, transcription_request
from .options import BackendCallOptions, FileInput, SpeechOptions, TranscriptionOptions
from .speech_streams import AsyncSpeechStream, SpeechStream

_OPTIONS = frozenset(SpeechOptions.__annotations__)


class VoiceFacade(Facade):
    """Speaks and listens. Its backend is chosen by `voice_backend=...` in `create_llm`; other options that begin with
    `voice_` are the backend's.
    """

    capability = "voice"

    @takes(SpeechOptions)
    def tts(self, text: str, **options: Unpack[SpeechOptions]) -> MediaResult[AudioPart]:
        """Returns a text as speech: `llm.voice.tts("Hello").save("hello.wav")`.

        Raises `InvalidInputError` for an empty text and an unknown voice, `CapabilityUnavailableError`, and errors of
        the backend.
        """
        return drive(self.make(self._caller.sync(), speech_request(text, options), AudioPart))

    @takes(SpeechOptions)
    async def atts(self, text: str, **options: Unpack[SpeechOptions]) -> MediaResult[AudioPart]:
        """The async version of `tts`."""
        return await self.make(self._caller.asynchronous(), speech_request(text, options), AudioPart)

    @takes(SpeechOptions)
    def tts_stream(self, text: str | Iterable[str], **options: Unpack[SpeechOptions]) -> SpeechStream:
        """Returns the parts of speech as they are made; `text` may be the pieces of an answer: `stream.text()`.

        It begins at the first read. Leave it with `close`, or use `with`.
        """
        return SpeechStream(*self._calls.stream(self._caller.sync(), speech_stream_request(text, options)))

    @takes(SpeechOptions)
    def atts_stream(
        self, text: str | Iterable[str] | AsyncIterable[str], **options: Unpack[SpeechOptions]
    ) -> AsyncSpeechStream:
        """The async version of `tts_stream`, for `async with` and `async for`."""
        return AsyncSpeechStream(*self._calls.stream(self._caller.asynchronous(), speech_stream_request(text, options)))

    @takes(TranscriptionOptions)
    def stt(self, audio: FileInput, **options: Unpack[TranscriptionOptions]) -> TranscriptResult:
        """Returns the transcript of a recording: by a backend of `llm.voice` that listens, else by `llm.audio`."""
        return drive(self._heard(self._caller.sync(), audio, options))

    @takes(TranscriptionOptions)
    async def astt(self, audio: FileInput, **options: Unpack[TranscriptionOptions]) -> TranscriptResult:
        """The async version of `stt`."""
        return await self._heard(self._caller.asynchronous(), audio, options)

    @takes(BackendCallOptions)
    def list_voices(self, **options: Unpack[BackendCallOptions]) -> list[JSONObject]:
        """Returns the voices of the backend; `id` of each is for `voice=`."""
        return drive(self._list(self._caller.sync(), _list_request(options)))

    @takes(BackendCallOptions)
    async def alist_voices(self, **options: Unpack[BackendCallOptions]) -> list[JSONObject]:
        """The async version of `list_voices`."""
        return await self._list(self._caller.asynchronous(), _list_request(options))

    async def _heard(self, pipeline: Pipeline, audio: object, options: Mapping[str, Any]) -> TranscriptResult:
        entries = self._backends.entries()  # raises if voice_backend is none of them
        try:
            self._backends.with_method("stt")
        except CapabilityUnavailableError:
            if not entries and self._caller.options.get("voice_backend") is not None:
                raise
            return await Audio(self._caller).transcript(pipeline, transcription_request("transcribe", audio, options))
        return await self.transcript(pipeline, transcription_request("stt", audio, options))


def speech_request(text: object, options: Mapping[str, Any]) -> BackendRequest:
    """Returns the request of speech."""
    return BackendRequest("tts", "media", (checked_text(text, "text"),), options, _OPTIONS)


def speech_stream_request(text: Any, options: Mapping[str, Any]) -> BackendRequest:
    """Returns the request of speech in parts, of a text or of its pieces."""
    for name in ("artifact_store", "verify"):
        if options.get(name):
            raise InvalidInputError("is not for streams", path=name, hint="Use tts.")
    return BackendRequest("tts_stream", "media", (TextPieces(text),), options, _OPTIONS, stream=True)


def _list_request(options: Mapping[str, Any]) -> BackendRequest:
    return BackendRequest("list_voices", "list", (), options, frozenset(BackendCallOptions.__annotations__))
