"""Audio that is streamed beside the output items: the finished response does not contain it.

The events (`response.audio.delta` and `response.audio.transcript.delta` in the types of the `openai` package 3.54) name
neither an item nor a format, and a request has no field for the format.
"""

from __future__ import annotations

import base64
import binascii

from abstractcore.errors import ServerError
from abstractcore.schema import AudioPart, Blob, TextPart

_BEGINNINGS = {b"RIFF": "audio/wav", b"ID3": "audio/mpeg", b"OggS": "audio/ogg", b"fLaC": "audio/flac"}
_SAMPLES = "audio/pcm"
"""The media type of data without a header: OpenAI streams samples of 16 bits at 24 kHz (`pcm16` in its audio guide)."""


class StreamedResponsesAudio:
    """Collects the pieces of the response's audio and of its transcript."""

    __slots__ = ("_base64", "_sound", "_transcript")

    def __init__(self) -> None:
        self._base64 = ""
        """The beginning of a group of four characters."""
        self._sound: list[bytes] = []
        self._transcript: list[str] = []

    def add_sound(self, text: str) -> None:
        """Adds a piece in base64; raises `ServerError` if it is not."""
        text = self._base64 + text
        whole = len(text) - len(text) % 4
        self._base64 = text[whole:]
        try:
            self._sound.append(base64.b64decode(text[:whole], validate=True))
        except (binascii.Error, ValueError):
            raise ServerError("the audio in the response is not base64") from None

    def add_transcript(self, text: str) -> None:
        """Adds a piece of the transcript."""
        self._transcript.append(text)

    def part(self) -> AudioPart | TextPart | None:
        """Returns the whole audio; its transcript if there is nothing else, or None."""
        sound, transcript = b"".join(self._sound), "".join(self._transcript)
        if sound:
            found = (kind for beginning, kind in _BEGINNINGS.items() if sound.startswith(beginning))
            return AudioPart(Blob.from_bytes(sound, next(found, _SAMPLES)), transcript or None)
        return TextPart(transcript) if transcript else None
