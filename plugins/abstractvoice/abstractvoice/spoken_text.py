"""`SpokenText`: one text that is spoken by a voice on this machine, as it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from abstractcore import CallWarning
from abstractcore.ports import Runtime

from .arriving_text import sentences_of
from .text import SpeakableText, Utterance
from .transcripts import SaidPiece

if TYPE_CHECKING:
    from .sound.encoding import Encoder
    from .speakers.speaker import Speaker, UtterancePiece


class SpokenText:
    """Says a text with a voice, and encodes the sound. `quick`: the first piece is short, so that it comes soon.

    Speech is made in worker threads, sentence by sentence: between them the call can be cancelled.
    """

    def __init__(self, runtime: Runtime, speaker: Speaker, encoder: Encoder, speed: float, *, quick: bool) -> None:
        self.voice = speaker.voice
        self.media_type = encoder.media_type
        self._runtime = runtime
        self._speaker = speaker
        self._encoder = encoder
        self._speed = speed
        self._quick = quick
        self._at = 0.0
        self._left_out: list[str] = []

    async def pieces(self, text: AsyncIterable[str]) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        """Yields the spoken pieces, each with the bytes of the file that are complete with it."""
        async with aclosing(sentences_of(text, SpeakableText(), self._runtime)) as utterances:
            async for utterance in utterances:
                async with aclosing(self._said(utterance)) as said:
                    async for made in said:
                        yield made

    async def finish(self) -> bytes:
        """Returns the end of the file."""
        return await self._runtime.call(self._encoder.finish)

    def warnings(self) -> list[CallWarning]:
        """Returns a warning about the words that the voice cannot say."""
        if not self._left_out:
            return []
        words = ", ".join(dict.fromkeys(self._left_out))
        return [CallWarning("unsupported_content", "text", f"words in other alphabets were left out: {words[:200]}")]

    async def _said(self, utterance: Utterance) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        spoken = self._speaker.say(utterance, self._speed, quick=self._quick)
        self._quick = False
        while (made := await self._runtime.call(self._next, spoken)) is not None:
            piece, encoded = made
            self._left_out += piece.left_out
            if not piece.text:
                continue
            seconds = len(piece.samples) / self._speaker.rate
            yield SaidPiece.of(utterance, piece.text, piece.start, piece.end, self._at, seconds), encoded
            self._at += seconds

    def _next(self, spoken: Iterator[UtterancePiece]) -> tuple[UtterancePiece, bytes] | None:
        piece = next(spoken, None)
        return None if piece is None else (piece, self._encoder.feed(piece.samples))
