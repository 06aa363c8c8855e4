"""`RemoteVoice`: the backend of a vendor's voices; `ListingVoice` of one that lists them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import Any, Protocol

from abstractcore import AudioPart, CallWarning, ConfigurationError, InvalidInputError
from abstractcore.ports import BackendOwner, Made

from ..arriving_text import single_piece
from ..sound.formats import format_named
from ..transcripts import SaidPiece, SoundParts
from .calls import VendorCalls
from .formats.format import ListsVoices, LiveFormat, SpeechFormat
from .live import LiveSound
from .readers import fields_of
from .requests import SpeechText
from .sound_sources import RequestedSound, SoundSource
from .speech import RemoteSpeech

_MOST_PAGES = 20


class RemoteVoice:
    """Sends a text sentence by sentence, and yields its sound as it arrives."""

    streams_text = True

    def __init__(self, owner: BackendOwner, format: SpeechFormat) -> None:
        self._owner = owner
        self._format = format
        self._row = format.row
        self._calls = VendorCalls(owner, format.row, format.credentials)

    async def tts(
        self,
        text: str,
        *,
        voice: str | None = None,
        format: str = "wav",
        speed: float | None = None,
        instructions: str | None = None,
        language: str | None = None,
        model: str | None = None,
    ) -> Made:
        """Returns a text as speech. Raises `InvalidInputError` for a text with nothing to say, `ConfigurationError`
        without a key, and errors of the vendor.
        """
        asked, warnings = self._asked(voice, speed, instructions, language, model)
        spoken = self._spoken(asked, format, whole=True)
        said: list[SaidPiece] = []
        data: list[bytes] = []
        async with aclosing(spoken.groups(text)) as groups:
            async for piece, encoded in groups:
                said.append(piece)
                data.append(encoded)
                self._owner.progress(piece.source_end, len(text), "characters")
        data.append(await spoken.finish())
        return Made.of(
            b"".join(data),
            spoken.media_type,
            transcript=" ".join(piece.text for piece in said if piece.text),
            model=self._named(asked),
            usage=spoken.usage(),
            warnings=warnings,
            metadata={"voice": asked.voice, "said": [piece.as_json() for piece in SaidPiece.joined(said)]},
        )

    async def tts_stream(
        self,
        text: str | AsyncIterable[str],
        *,
        voice: str | None = None,
        format: str = "pcm",
        speed: float | None = None,
        instructions: str | None = None,
        language: str | None = None,
        model: str | None = None,
    ) -> AsyncGenerator[AudioPart | Made]:
        """Yields the speech of a text that arrives in pieces, as it is made. Raises as `tts` does."""
        asked, warnings = self._asked(voice, speed, instructions, language, model)
        spoken = self._spoken(asked, format, whole=False)
        parts = SoundParts(spoken.media_type)
        try:
            async with aclosing(spoken.sentences(single_piece(text) if isinstance(text, str) else text)) as sentences:
                async for piece, encoded in sentences:
                    for part in parts.feed(piece, encoded):
                        yield part
        finally:
            await spoken.close()
        for part in parts.finish(await spoken.finish()):
            yield part
        about = {"voice": asked.voice}
        yield Made((), model=self._named(asked), usage=spoken.usage(), warnings=warnings, metadata=about)

    async def list_voices(self) -> list[dict[str, Any]]:
        """Returns the voices that the vendor's documentation names; servers with its API may have others."""
        return [{"id": name} for name in self._row.voices]

    def _asked(
        self, voice: str | None, speed: float | None, instructions: str | None, language: str | None, model: str | None
    ) -> tuple[SpeechText, list[CallWarning]]:
        config, warnings = self._owner.config, list[CallWarning]()
        given: dict[str, Any] = {"speed": speed, "instructions": instructions, "language": language}
        for name, value in given.items():
            if value is not None and name not in self._row.takes:
                warnings.append(self._calls.not_taken(name, value))
                given[name] = None
        if given["speed"] is not None:
            given["speed"], more = self._speed(given["speed"])
            warnings += more
        chosen = voice or config.get("voice_default") or self._row.voice
        asked = SpeechText("", str(chosen), str(model or config.get("voice_model") or self._row.model), **given)
        return asked, warnings

    def _speed(self, speed: object) -> tuple[float, list[CallWarning]]:
        if not isinstance(speed, int | float) or not 0 < speed < 100:
            raise InvalidInputError(f"speed {speed!r}: expected a number", path="speed")
        slowest, fastest = self._row.speeds
        sent = min(max(float(speed), slowest), fastest)
        return sent, [] if sent == speed else [self._calls.not_taken("speed", speed, sent)]

    def _spoken(self, asked: SpeechText, format: str, *, whole: bool) -> RemoteSpeech:
        from ..sound.encoding import Encoder

        encoder = Encoder(format_named(format), self._row.rate, whole=whole)
        source = RequestedSound(self._owner.runtime, self._calls, self._format) if whole else self._source()
        return RemoteSpeech(self._owner.runtime, source, self._row, asked, encoder)

    def _source(self) -> SoundSource:
        """Returns where the sound of a stream comes from. Raises `ConfigurationError` for WebSocket without one."""
        if not self._owner.config.get("voice_websocket"):
            return RequestedSound(self._owner.runtime, self._calls, self._format)
        raise ConfigurationError(
            f"{self._row.title} is not spoken to over WebSocket", hint="Leave out voice_websocket of create_llm."
        )

    def _named(self, asked: SpeechText) -> str:
        return f"{self._format.provider}/{asked.model}"


class ListingVoice(RemoteVoice):
    """A vendor that lists its voices."""

    def __init__(self, owner: BackendOwner, format: ListsVoices) -> None:
        super().__init__(owner, format)
        self._listing = format

    async def list_voices(self) -> list[dict[str, Any]]:
        """Returns the voices of the account."""
        rows: list[dict[str, Any]] = []
        after = ""
        for _ in range(_MOST_PAGES):
            page, after = self._listing.read_voices(fields_of(await self._calls.send(self._listing.voices(after))))
            rows += page
            if not after:
                break
        return rows


class ListingLiveFormat(ListsVoices, LiveFormat, Protocol):
    """The format of a vendor that lists its voices, and speaks over WebSocket."""


class LiveVoice(ListingVoice):
    """A vendor whose streams may use one WebSocket connection instead of a request for each sentence."""

    def __init__(self, owner: BackendOwner, format: ListingLiveFormat) -> None:
        super().__init__(owner, format)
        self._live = format

    def _source(self) -> SoundSource:
        if self._owner.config.get("voice_websocket"):
            return LiveSound(self._owner, self._calls, self._live)
        return super()._source()
