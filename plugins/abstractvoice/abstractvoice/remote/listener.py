"""`RemoteListener`: the backend of a vendor that transcribes in one request."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore import CallWarning
from abstractcore.ports import BackendOwner, Made, MediaBytes

from .calls import VendorCalls
from .formats.format import ListeningFormat
from .readers import fields_of
from .requests import SpeechRecording


class RemoteListener:
    """Sends a recording, and returns its transcript."""

    def __init__(self, owner: BackendOwner, format: ListeningFormat) -> None:
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
        """Returns the transcript of a recording, with the times of words. Raises `ConfigurationError` without a key,
        and errors of the vendor.
        """
        listener = str(model or self._format.row.listener)
        recording = SpeechRecording(audio, listener, language, tuple(terms), speakers)
        response = await self._calls.send(self._format.listen(recording))
        named = f"{self._format.provider}/{listener}"
        return Made(self._format.transcript(fields_of(response), named), model=named, warnings=list[CallWarning]())
