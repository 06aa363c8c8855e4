"""`Audio`: `llm.audio`, what is said in recordings."""

from __future__ import annotations

from typing import Unpack

from ..concurrency import drive
from ..option_help import takes
from ..schema import TranscriptResult
from .facade import Facade, transcription_request
from .options import FileInput, TranscriptionOptions


class Audio(Facade):
    """Transcribes recordings. Its backend is chosen by `audio_backend=...` in `create_llm`."""

    capability = "audio"

    @takes(TranscriptionOptions)
    def transcribe(self, audio: FileInput, **options: Unpack[TranscriptionOptions]) -> TranscriptResult:
        """Returns the transcript of a recording, or of a video.

        Raises `MediaError` for a file that cannot be read, `CapabilityUnavailableError`, and errors of the backend.
        `audio` is a path, a URL, bytes, or another form of a file that `media` takes.
        """
        return drive(self.transcript(self._caller.sync(), transcription_request("transcribe", audio, options)))

    @takes(TranscriptionOptions)
    async def atranscribe(self, audio: FileInput, **options: Unpack[TranscriptionOptions]) -> TranscriptResult:
        """The async version of `transcribe`."""
        return await self.transcript(self._caller.asynchronous(), transcription_request("transcribe", audio, options))
