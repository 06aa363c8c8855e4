"""`SpeechFormat`, `ListsVoices`, `ListeningFormat`: what formats of vendors do. Their URLs are paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from abstractcore.schema import Transcript, WireRequest

from ..decoders import SoundDecoder
from ..requests import SpeechRecording, SpeechText
from ..sound_pieces import SoundPiece
from ..vendors import VendorRow


class SpeechFormat(Protocol):
    """The format of a vendor's voices. `provider` is its name in the catalogue of prices."""

    row: VendorRow
    provider: str

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        ...

    def speech(self, asked: SpeechText) -> WireRequest:
        """Returns the request of speech."""
        ...

    def decoder(self, content_type: str) -> SoundDecoder:
        """Returns the decoder of a response."""
        ...


class LiveFormat(SpeechFormat, Protocol):
    """The format of a vendor that speaks over a WebSocket connection too.

    `timed` is whether it reports times of words, `times_of_chunks` whether they count from the sound in the same
    message instead of from the beginning of the sentence. After `most_turns` sentences another connection is used.
    `farewell` is the last message of a connection.
    """

    timed: bool
    times_of_chunks: bool
    most_turns: float
    farewell: str

    def connection(self, asked: SpeechText) -> WireRequest:
        """Returns the request that opens the connection."""
        ...

    def messages(self, asked: SpeechText, turn: str) -> Sequence[Mapping[str, Any]]:
        """Returns the messages for a sentence, whose name is `turn`."""
        ...

    def heard(self, message: str | bytes, turn: str) -> SoundPiece | None:
        """Returns the sound of a sentence in a message; None if it is of another, or of no importance. Raises
        `ProviderError` for errors, and for what is not of the vendor's format.
        """
        ...


class ListsVoices(SpeechFormat, Protocol):
    """The format of a vendor that lists its voices."""

    def voices(self, after: str) -> WireRequest:
        """Returns the request of the first page, or of the one after a mark."""
        ...

    def read_voices(self, fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str]:
        """Returns the voices of a page, and the mark of the next one; an empty mark after the last page."""
        ...


class ListeningFormat(Protocol):
    """The format of a vendor that transcribes."""

    row: VendorRow
    provider: str

    def credentials(self, key: str) -> Mapping[str, str]:
        """Returns the headers with the key."""
        ...

    def listen(self, asked: SpeechRecording) -> WireRequest:
        """Returns the request of a transcript."""
        ...

    def transcript(self, fields: Mapping[str, Any], model: str) -> Transcript:
        """Returns the transcript in a response."""
        ...
