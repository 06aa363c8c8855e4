"""`SpeakableText`: Markdown that arrives in pieces becomes sentences that a voice can say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .code import block_words
from .english import english_words
from .formulas import formula_words
from .inline import plain
from .mapped import MappedText
from .scanner import MarkdownScanner
from .utterances import Passage, Utterance

_SPACE = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"(?<!\s)\s+(?=[,.;:!?\u2026)])")
_MARKS = re.compile(r"(?<![,;:])(?:([,;:])[,;:]++(?=\s|$)|[,;:]++(?=[.!?]))")
_EMPTY_BRACKETS = re.compile(r"\(\s*\)|\[\s*\]")
_SAID = re.compile(r"\w")
_STOPPED = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")


class SpeakableText:
    """Turns text into what is said of it, sentence by sentence, whichever way the text is split into pieces.

    In English, numbers, dates, amounts and symbols become words; in other languages that is left to the voice. With
    `words=False` it is in English too.
    """

    def __init__(self, language: str = "en", *, words: bool = True) -> None:
        self._scanner = MarkdownScanner()
        self._english = words and language.partition("-")[0].lower() == "en"
        self._end = 0

    def feed(self, text: str) -> Iterator[Utterance]:
        """Yields the sentences that this piece of text completes, which must be read before the next piece comes."""
        return self._utterances(self._scanner.feed(text))

    def finish(self) -> Iterator[Utterance]:
        """Yields the sentences that are left at the end of the text."""
        return self._utterances(self._scanner.finish())

    def _utterances(self, passages: Iterable[Passage]) -> Iterator[Utterance]:
        return filter(None, map(self._utterance, passages))

    def _utterance(self, passage: Passage) -> Utterance | None:
        text = passage.content.text
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        start, end = passage.content.span(first, last) if first < last else (self._end, self._end)
        said = _words(passage)
        if self._english:
            said = english_words(said)
        said = _tidy(said)
        if not _SAID.search(said.text):
            return None
        if passage.last and not _STOPPED.search(said.text):
            said = MappedText.joined((said, MappedText.said(".", (end, end))))
        self._end = end
        return Utterance(said, start, end, passage.kind, passage.last)


def speakable(text: str, language: str = "en", *, words: bool = True) -> list[Utterance]:
    """Returns the spoken form of a text, sentence by sentence."""
    whole = SpeakableText(language, words=words)
    return [*whole.feed(text), *whole.finish()]


def _words(passage: Passage) -> MappedText:
    content = passage.content
    if passage.kind == "code":
        return MappedText.said(block_words(content.text), content.spans[0])
    if passage.kind == "math":
        return MappedText.said(formula_words(content.text), content.span(0, len(content)))
    return plain(content)


def _tidy(said: MappedText) -> MappedText:
    """Returns the text with single spaces, and marks where a reader would expect them."""
    said = said.sub(_EMPTY_BRACKETS, lambda _: " ").sub(_SPACE, lambda _: " ")
    said = said.sub(_BEFORE_MARK, lambda _: "").sub(_MARKS, lambda marks: marks[1] or "")
    first = len(said.text) - len(said.text.lstrip(" ,;:.!?\u2026"))
    return said[first : len(said.text.rstrip())]
