"""A voice in memory that speaks text as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from abstractcore import AudioPart, Blob, InvalidInputError, ServerError
from abstractcore.ports import Made

RATE = 100
"""Samples a second."""
LETTERS_A_SECOND = 10


class Talker:
    """Says each sentence, a letter in a tenth of a second, with its times and places in the text.

    `timed` reports the time of each word, `silent` says nothing, `fails_after` fails after so many sentences.
    """

    is_local = True
    streams_text = True
    timed = False
    silent = False
    fails_after = 1_000

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    async def tts_stream(self, text: AsyncIterable[str], *, voice: str = "low") -> AsyncIterator[AudioPart | Made]:
        waiting, place, at, count = "", 0, 0.0, 0
        async for piece in text:
            waiting += piece
            while (end := waiting.find(". ")) >= 0 or (end := waiting.find("\n\n")) >= 0:
                sentence, waiting = waiting[: end + 1], waiting[end + 1 :]
                if sentence.strip():
                    yield self._part(sentence, place, at)
                    count += 1
                    if count == self.fails_after:
                        raise ServerError("the voice broke")
                    at += len(sentence.strip()) / LETTERS_A_SECOND
                place += len(sentence)
        if self.silent or not (waiting.strip() or count):
            raise InvalidInputError("there is nothing to say in the text", path="text")
        if waiting.strip():
            yield self._part(waiting, place, at)
        yield Made((), model="talk-1", metadata={"voice": voice})

    def _part(self, sentence: str, place: int, at: float) -> AudioPart:
        start = place + len(sentence) - len(sentence.lstrip())
        said = sentence.strip()
        words: list[dict[str, Any]] = []
        until = 0
        for word in said.split():
            until = said.index(word, until) + len(word)
            time = {"until": at + until / LETTERS_A_SECOND} if self.timed else {}
            words.append({"text": word, "source_end": start + until, **time})
        seconds = len(said) / LETTERS_A_SECOND
        about = {
            "at": at,
            "seconds": seconds,
            "source_start": start,
            "source_end": start + len(said),
            "words": words,
        }
        sound = Blob.from_bytes(bytes(2 * round(RATE * seconds)), f"audio/pcm;rate={RATE};channels=1")
        return AudioPart(sound, transcript=said, provider_options={"voice": about})


class TimedTalker(Talker):
    """Reports the time of each word."""

    timed = True


class Chunks:
    """A voice without places or times: each word as samples, from the whole text."""

    def __init__(self, owner: Any) -> None: ...

    async def tts_stream(self, text: str) -> AsyncIterator[AudioPart]:
        for word in text.split():
            sound = Blob.from_bytes(bytes(2 * RATE), f"audio/pcm;rate={RATE};channels=1")
            yield AudioPart(sound, transcript=word)
