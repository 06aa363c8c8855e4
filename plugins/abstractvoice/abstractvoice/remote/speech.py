"""`RemoteSpeech`: one text that a vendor speaks, request by request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import replace

from abstractcore import InvalidInputError, RequestTimeoutError, Usage
from abstractcore.ports import Body, Runtime
from abstractcore.schema import Billing

from ..arriving_text import one, sentences_of
from ..sound.encoding import Encoder
from ..text import SpeakableText, Utterance
from ..transcripts import SaidPiece, said_words
from .calls import VendorCalls
from .formats.format import SpeechFormat
from .requests import Speech

_SAMPLE_BYTES = 2
_IDLE_SECONDS = 60.0
"""A vendor that sends nothing for as long has failed."""


class RemoteSpeech:
    """Says a text with a vendor's voice, as `asked`, and encodes the sound. Nothing is requested twice."""

    def __init__(
        self, runtime: Runtime, calls: VendorCalls, format: SpeechFormat, asked: Speech, encoder: Encoder
    ) -> None:
        self.media_type = encoder.media_type
        self._runtime = runtime
        self._calls = calls
        self._format = format
        self._asked = asked
        self._encoder = encoder
        self._at = 0.0
        self._characters = 0
        self._usage = Usage()

    async def sentences(self, text: AsyncIterable[str]) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        """Yields the sound of a text that arrives in pieces: each sentence as soon as it is complete."""
        speakable = SpeakableText(self._asked.language or "en", words=False)
        async for utterance in sentences_of(text, speakable, self._runtime):
            async for made in self._said([utterance]):
                yield made
        self._check_said()

    async def groups(self, text: str) -> AsyncGenerator[tuple[SaidPiece, bytes]]:
        """Yields the sound of a text in as few requests as the vendor's limit allows."""
        speakable = SpeakableText(self._asked.language or "en", words=False)
        group: list[Utterance] = []
        size = 0
        async for utterance in sentences_of(one(text), speakable, self._runtime):
            if group and size + len(utterance.text) + 1 > self._format.row.longest:
                async for made in self._said(group):
                    yield made
                group, size = [], 0
            group.append(utterance)
            size += len(utterance.text) + 1
        if group:
            async for made in self._said(group):
                yield made
        self._check_said()

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
        said, words = text, tuple(word for each in utterances for word in said_words(each, 0, len(each.text)))
        request = self._format.speech(replace(self._asked, text=text))
        async with self._calls.opened(request) as body:
            decoder = self._format.decoder(body.headers.get("content-type", "").lower())
            while chunk := await self._read(body):
                samples = decoder.feed(chunk)
                if not samples:
                    continue
                seconds = len(samples) / _SAMPLE_BYTES / self._format.row.rate
                encoded = await self._runtime.call(self._encoder.feed_pcm, samples)
                yield SaidPiece(said, self._at, seconds, start, end, words), encoded
                self._at += seconds
                said, words = "", ()
        decoder.finish()
        self._count(decoder.usage)
        self._asked = replace(self._asked, before=text)

    async def _read(self, body: Body) -> bytes:
        rung: list[bool] = []

        def ring() -> None:
            rung.append(True)
            body.abort()

        alarm_off = self._runtime.alarm(_IDLE_SECONDS, ring)
        try:
            return await body.read()
        except Exception:
            if rung:
                raise RequestTimeoutError(f"no sound arrived for {_IDLE_SECONDS:.0f} s") from None
            raise
        finally:
            alarm_off()

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usage = Usage(_sum(self._usage.input, usage.input), _sum(self._usage.output, usage.output))

    def _check_said(self) -> None:
        if not self._characters:
            raise InvalidInputError("there is nothing to say in the text", path="text")


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
