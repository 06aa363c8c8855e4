"""`Speaker`: says utterances with a voice of this machine, in pieces that follow each other without a gap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from abstractcore import MediaError

from ..sound.samples import Samples
from ..sound.silence import silence, trimmed
from ..text import Utterance
from .english import Lexicon, PronouncedWord, pronounced
from .voices import VoiceRow

_FIRST = 32
"""Symbols of the first piece at most: the first sound comes sooner."""
_PAUSES = {",": 0.12, ";": 0.2, ":": 0.2, "\u2026": 0.3}
_SENTENCE_PAUSE, _PARAGRAPH_PAUSE = 0.3, 0.6
_MARKS = frozenset(".,;:!?\u2026")
_SPACE_BEFORE_MARK = re.compile(r" (?=[.,;:!?\u2026])")


class VoiceModel(Protocol):
    """A model of one or several voices."""

    @property
    def rate(self) -> int:
        """Samples a second."""
        ...

    @property
    def longest(self) -> int:
        """The most symbols at once."""
        ...

    def symbols(self, said: Sequence[PronouncedWord]) -> list[list[int]]:
        """Returns the symbols of each word or mark."""
        ...

    def sound(self, symbols: Sequence[int], voice: VoiceRow, speed: float) -> Samples:
        """Returns the sound of symbols."""
        ...


@dataclass(frozen=True, slots=True)
class UtterancePiece:
    """Sound, and the characters of the utterance that are said in it. `left_out` are words that no voice here knows."""

    samples: Samples
    text: str
    start: int
    end: int
    left_out: tuple[str, ...] = ()


class Speaker:
    """A voice that is loaded."""

    def __init__(self, model: VoiceModel, voice: VoiceRow) -> None:
        self.voice = voice
        self.rate = model.rate
        self.model = model

    def say(self, utterance: Utterance, speed: float, *, quick: bool) -> Iterator[UtterancePiece]:
        """Yields the sound of an utterance, with the pause after it; `quick`: in pieces, of which the first is short.

        Raises `MediaError` if the model makes no sound of it.
        """
        said, left_out = pronounced(utterance.text, Lexicon.load())
        if not any(each.phonemes for each in said):
            words = tuple(utterance.text[first:last] for first, last in left_out)
            yield UtterancePiece(silence(0, self.rate), "", 0, len(utterance.text), words)
            return
        symbols = self.model.symbols(said)
        parts = _parts(said, symbols, _FIRST if quick else self.model.longest, self.model.longest)
        for number, (first, last) in enumerate(parts):
            ends = number == len(parts) - 1
            pause = _pause_after(said[last - 1].mark, ends, utterance.last)
            sound = self._sound(symbols[first:last], speed)
            start = said[first].start if number else 0
            end = len(utterance.text) if ends else said[last].start
            samples = np.concatenate((trimmed(sound, self.rate), silence(pause / speed, self.rate)))
            unsaid = [span for span in left_out if start <= span[0] < end]
            text, words = _without(utterance.text, start, end, unsaid)
            yield UtterancePiece(samples, text, start, end, words)

    def _sound(self, symbols: Sequence[list[int]], speed: float) -> Samples:
        """Returns the sound of words and marks; of each half alone if the model fails at all of them."""
        flat = [symbol for each in symbols for symbol in each]
        made = self.model.sound(flat, self.voice, speed)
        if np.isfinite(made).all():
            return made
        middle = len(symbols) // 2
        if not middle:
            raise MediaError(f"the voice {self.voice.name} makes no sound of a word", source=self.voice.name)
        return np.concatenate([self._sound(half, speed) for half in (symbols[:middle], symbols[middle:])])


def _parts(
    said: Sequence[PronouncedWord], symbols: Sequence[list[int]], first: int, longest: int
) -> list[tuple[int, int]]:
    """Returns the first and last index of each piece: of `first` symbols at most, then of `longest`.

    A piece ends after a mark if one is in its second half, else between words. Marks stay with the word before them.
    """
    parts: list[tuple[int, int]] = []
    start = size = mark = 0
    for place, each in enumerate(symbols):
        limit = longest if parts else first
        if size + len(each) > limit and place > start and not said[place].mark:
            end = mark or place
            parts.append((start, end))
            start, mark = end, 0
            size = sum(map(len, symbols[end:place]))
        size += len(each)
        if said[place].mark and size > limit // 2:
            mark = place + 1
    return [*parts, (start, len(said))] if start < len(said) else parts


def _without(text: str, start: int, end: int, unsaid: Sequence[tuple[int, int]]) -> tuple[str, tuple[str, ...]]:
    """Returns a part of a text without the words that are left out, and these."""
    kept: list[str] = []
    place = start
    for first, last in unsaid:
        kept.append(text[place:first])
        place = last
    kept.append(text[place:end])
    said = _SPACE_BEFORE_MARK.sub("", " ".join("".join(kept).split()))
    return said, tuple(text[first:last] for first, last in unsaid)


def _pause_after(mark: str, ends: bool, last: bool) -> float:
    if ends:
        return _PARAGRAPH_PAUSE if last else _SENTENCE_PAUSE
    return _PAUSES.get(mark, _SENTENCE_PAUSE if mark in _MARKS else 0.0) if mark else 0.0
