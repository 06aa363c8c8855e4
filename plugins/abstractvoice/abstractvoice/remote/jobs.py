"""`JobListener`: the backend of AssemblyAI, whose transcripts are jobs."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore import BadRequestError, UnexpectedResponseError
from abstractcore.ports import BackendOwner, Made, MediaBytes

from .calls import VendorCalls
from .formats.assemblyai import AssemblyAI
from .readers import fields_of, text_of
from .requests import SpeechRecording

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0


class JobListener:
    """Uploads a recording, starts the job, and asks for it with growing pauses until the time limit of the call."""

    def __init__(self, owner: BackendOwner, format: AssemblyAI) -> None:
        self._owner = owner
        self._format = format
        self._calls = VendorCalls(owner, format.row, format.credentials)

    async def stt(
        self,
        audio: MediaBytes,
        *,
        language: str | None = None,
        terms: Sequence[str] = (),
        speakers: bool | int = False,
        words: bool = True,
        model: str | None = None,
    ) -> Made:
        """Returns the transcript of a recording, with the times of words. Raises `BadRequestError` for a job that
        fails, `ConfigurationError` without a key, and errors of the vendor.
        """
        recording = SpeechRecording(audio, str(model or ""), language, tuple(terms), speakers)
        uploaded = text_of(fields_of(await self._calls.send(self._format.upload(recording))), "upload_url")
        # A repeated request would start, and charge, a second job.
        started = await self._calls.send(self._format.start(recording, uploaded), may_repeat=False)
        job = text_of(fields_of(started), "id")
        if not uploaded or not job:
            raise UnexpectedResponseError("the server names no recording, or no job")
        pause = _FIRST_PAUSE
        while True:
            fields = fields_of(await self._calls.send(self._format.state(job)))
            status = text_of(fields, "status")
            if status == "completed":
                transcript = self._format.transcript(fields)
                return Made(transcript, model=f"{self._format.provider}/{transcript.model or 'default'}")
            if status not in ("queued", "processing"):
                raise BadRequestError(text_of(fields, "error") or f"the job ended as {status!r}", code=status or None)
            await self._owner.runtime.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
