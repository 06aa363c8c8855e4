"""`RemoteSpeech`: one text that a vendor speaks, sentence by sentence."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import replace

from abstractcore import InvalidInputError, Usage
from abstractcore.ports import Runtime
from abstractcore.schema import Billing

from ..arriving_text import sentences_of, single_piece
from ..sound.encoding import Encoder
from ..text import SpeakableText, Utterance
from ..transcripts import SaidPiece, said_words
from .requests import SpeechText
from .sound_sources import SoundSource
from .vendors import VendorRow
from .word_times import WordTimes

_SAMPLE_BYTES = 2


class RemoteSpeech:
    """Says a text with a vendor's voice, as `asked`, and encodes the sound. Nothing is requested twice."""

    def __init__(
        self, runtime: Runtime, source: SoundSource, row: VendorRow, asked: SpeechText, encoder: Encoder
    ) -> None:
        self.media_type = encoder.media_type
        self._runtime = runtime
        self._source = source
        self._row = row
        self._asked = asked
        self._encoder = encoder
        self._at = 0.0
        self._characters = 0
        self._usage = Usage()

    async def sentences(self, text: AsyncIterable[str]) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        """Yields the sound of a text that arrives in pieces: each sentence as soon as it is complete."""
        speakable = SpeakableText(self._asked.language or "en", words=False)
        async with aclosing(sentences_of(text, speakable, self._runtime)) as utterances:
            async for utterance in utterances:
                async with aclosing(self._said([utterance])) as said:
                    async for made in said:
                        yield made
        self._check_said()

    async def groups(self, text: str) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        """Yields the sound of a text in as few requests as the vendor's limit allows."""
        speakable = SpeakableText(self._asked.language or "en", words=False)
        group: list[Utterance] = []
        size = 0
        groups: list[list[Utterance]] = []
        async for utterance in sentences_of(single_piece(text), speakable, self._runtime):
            if group and size + len(utterance.text) + 1 > self._row.longest:
                groups.append(group)
                group, size = [], 0
            group.append(utterance)
            size += len(utterance.text) + 1
        for each in [*groups, group] if group else groups:
            async with aclosing(self._said(each)) as said:
                async for made in said:
                    yield made
        self._check_said()

    async def close(self) -> None:
        """Ends the connection to the vendor."""
        await self._source.close()

    async def finish(self) -> bytes:
        """Returns the end of the file."""
        return await self._runtime.call(self._encoder.finish)

    def usage(self) -> Usage:
        """Returns the tokens that the vendor reports, or else the characters that were sent."""
        return self._usage if self._usage != Usage() else Usage(billing=Billing(counts={"character": self._characters}))

    async def _said(self, utterances: list[Utterance]) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        text = " ".join(each.text for each in utterances)
        start, end = utterances[0].start, utterances[-1].end
        self._characters += len(text)
        words = tuple(word for each in utterances for word in said_words(each, 0, len(each.text)))
        times = WordTimes(SaidPiece(text, self._at, 0.0, start, end, words))
        async with aclosing(self._source.speak(replace(self._asked, text=text))) as pieces:
            async for piece in pieces:
                self._count(piece.usage)
                if not piece.samples:
                    continue
                seconds = len(piece.samples) / _SAMPLE_BYTES / self._row.rate
                encoded = await self._runtime.call(self._encoder.feed_pcm, piece.samples)
                yield times.piece(piece.times, self._at, seconds, last=piece.last), encoded
                self._at += seconds
        self._asked = replace(self._asked, before=text)

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usage = Usage(_sum(self._usage.input, usage.input), _sum(self._usage.output, usage.output))

    def _check_said(self) -> None:
        if not self._characters:
            raise InvalidInputError("there is nothing to say in the text", path="text")


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
