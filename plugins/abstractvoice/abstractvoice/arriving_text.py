"""Texts that arrive in pieces, and the sentences in them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterator

from abstractcore.ports import Runtime

from .text import SpeakableText, Utterance


async def single_piece(text: str) -> AsyncGenerator[str]:
    """Yields a text as its only piece."""
    yield text


async def sentences_of(
    text: AsyncIterable[str], speakable: SpeakableText, runtime: Runtime
) -> AsyncGenerator[Utterance]:
    """Yields each sentence as soon as it is complete. They are found in worker threads: some texts take seconds."""
    async for piece in text:
        found = speakable.feed(piece)
        while (sentence := await runtime.call(_next, found)) is not None:
            yield sentence
    rest = speakable.finish()
    while (sentence := await runtime.call(_next, rest)) is not None:
        yield sentence


def _next(sentences: Iterator[Utterance]) -> Utterance | None:
    return next(sentences, None)
