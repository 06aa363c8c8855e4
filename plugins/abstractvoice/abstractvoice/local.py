"""`LocalVoices`: the backend of voices on this machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from abstractcore import AudioPart, CallProgress, InvalidInputError
from abstractcore.ports import BackendOwner, Made, MediaBytes

from .arriving_text import single_piece
from .sound.formats import format_named
from .speakers.voices import DEFAULT_VOICE, VoiceRow, voice_named, voices
from .spoken_text import SpokenText
from .transcripts import SaidPiece, SoundParts

if TYPE_CHECKING:
    from .speakers.speaker import Speaker

_SLOWEST, _FASTEST = 0.25, 4.0
_LONGEST = 200_000
"""Characters of a file: three hours."""


class LocalVoices:
    """Says English texts with voices on this machine, sentence by sentence."""

    is_local = True
    streams_text = True

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner

    async def tts(
        self, text: str, *, voice: str | None = None, format: str = "wav", speed: float = 1.0, language: str = "en"
    ) -> Made:
        """Returns a text as speech, with the times of what is said in `metadata["said"]`.

        Raises `InvalidInputError` for an unknown voice or format, another language than English, a speed that is not
        from 0.25 to 4, a text with nothing to say, and one longer than 200,000 characters.
        """
        if len(text) > _LONGEST:
            message = f"a text of {len(text):,} characters is too long for one file"
            raise InvalidInputError(message, path="text", hint="Use tts_stream, and write its parts to a file.")
        spoken = await self._spoken(voice, format, speed, language, whole=True)
        data: list[bytes] = []
        said: list[SaidPiece] = []
        async with aclosing(spoken.pieces(single_piece(text))) as pieces:
            async for piece, encoded in pieces:
                said.append(piece)
                data.append(encoded)
                self._owner.progress(piece.source_end, len(text), "characters")
        data.append(await spoken.finish())
        if not said:
            raise _nothing_to_say()
        return Made.of(
            b"".join(data),
            spoken.media_type,
            transcript=" ".join(piece.text for piece in said),
            model=spoken.voice.model,
            warnings=spoken.warnings(),
            metadata={"voice": spoken.voice.name, "said": [piece.as_json() for piece in said]},
        )

    async def tts_stream(
        self,
        text: str | AsyncIterable[str],
        *,
        voice: str | None = None,
        format: str = "pcm",
        speed: float = 1.0,
        language: str = "en",
    ) -> AsyncGenerator[AudioPart | Made]:
        """Yields the speech of a text that arrives in pieces: each part as soon as it is made.

        What a part says is its `transcript`; `provider_options["voice"]` has its times and places in the text. Raises
        as `tts` does.
        """
        spoken = await self._spoken(voice, format, speed, language, whole=False)
        parts, silent = SoundParts(spoken.media_type), True
        async with aclosing(spoken.pieces(single_piece(text) if isinstance(text, str) else text)) as pieces:
            async for piece, encoded in pieces:
                silent = False
                for part in parts.feed(piece, encoded):
                    yield part
        rest = await spoken.finish()
        if silent:
            raise _nothing_to_say()
        for part in parts.finish(rest):
            yield part
        yield Made((), model=spoken.voice.model, warnings=spoken.warnings(), metadata={"voice": spoken.voice.name})

    def stt(self, audio: MediaBytes, **options: Any) -> Made:
        """Returns the transcript of a recording, by `llm.audio.transcribe`: its backend on this machine, if no other is
        chosen.
        """

        call = copy_context()  # that of this call: within the one below, the owner reports for that one

        def report(progress: CallProgress) -> None:
            call.copy().run(self._owner.progress, progress.done, progress.total, progress.what, progress.part)

        transcribe = self._owner.llm.audio.transcribe
        heard = transcribe(audio.part, timeout=self._owner.time_left, on_progress=report, **options)
        return Made(heard.transcript, model=heard.model, warnings=heard.warnings)

    def list_voices(self) -> list[dict[str, Any]]:
        """Returns the voices: the default one, then the best ones."""
        default = voice_named(self._default())
        rows = sorted(voices().values(), key=lambda row: (row != default, row.order, row.name))
        return [row.as_json() for row in rows]

    def _default(self) -> str:
        return str(self._owner.config.get("voice_default") or DEFAULT_VOICE)

    async def _spoken(self, voice: str | None, format: str, speed: float, language: str, *, whole: bool) -> SpokenText:
        row, chosen = voice_named(voice or self._default()), format_named(format)
        if not isinstance(speed, int | float) or not _SLOWEST <= speed <= _FASTEST:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"speed {speed!r}: expected a number from {_SLOWEST} to {_FASTEST}", path="speed")
        if language.partition("-")[0].lower() != "en":
            message = f"the voices on this machine speak English, not {language!r}"
            raise InvalidInputError(message, path="language", hint="Use another backend: voice_backend=...")
        from .sound.encoding import Encoder

        speaker = await self._owner.runtime.call(self._speaker, row)
        encoder = Encoder(chosen, speaker.rate, whole=whole)
        return SpokenText(self._owner.runtime, speaker, encoder, speed, quick=not whole)

    def _speaker(self, row: VoiceRow) -> Speaker:
        from .speakers.loading import speaker

        config = self._owner.config
        threads = config.get("voice_threads") or self._owner.spare_cores
        variation = config.get("voice_variation")
        isolation = self._owner.isolation if config.get("voice_isolated") else None
        folder = self._owner.models.path(row.model)
        return speaker(row, folder, threads, 1.0 if variation is None else variation, isolation)


def _nothing_to_say() -> InvalidInputError:
    return InvalidInputError("there is nothing to say in the text", path="text")
