"""Collects audio that is streamed in chunks."""

from __future__ import annotations

from abstractcore.schema import AudioPart, Blob

from ...common.reading import Object, text_of
from .content import REPLY_AUDIO_TYPE
from .decode import audio_bytes


class StreamedChatAudio:
    """Collects chunks, each of which may have an id, transcript text, and base64 data."""

    __slots__ = ("_id", "_sound", "_transcript")

    def __init__(self) -> None:
        self._id: str | None = None
        self._sound: list[bytes] = []
        self._transcript: list[str] = []

    def add(self, audio: Object) -> None:
        """Adds a chunk; raises `ServerError` for data that is not base64."""
        self._id = text_of(audio, "id") or self._id
        self._sound.append(audio_bytes(text_of(audio, "data") or ""))
        self._transcript.append(text_of(audio, "transcript") or "")

    def part(self) -> AudioPart:
        """Returns the whole audio."""
        return AudioPart(Blob.from_bytes(b"".join(self._sound), REPLY_AUDIO_TYPE), "".join(self._transcript), self._id)
