"""`WordTimes`: the words of a sentence get the times that a vendor reports. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..transcripts import SaidPiece, SaidWord
from .sound_pieces import TimedText


class WordTimes:
    """Gives out the words of `sentence` with its sound: each when its time is known, all at once if no times come.

    `sentence.at` is the second at which it begins.
    """

    def __init__(self, sentence: SaidPiece) -> None:
        self._sentence = sentence
        self._words = list(sentence.words)
        self._place = sentence.source_start
        self._missing = self._words[0].text if self._words else ""
        self._matches = True
        self._any = False

    def piece(self, times: Sequence[TimedText], at: float, seconds: float, *, last: bool) -> SaidPiece:
        """Returns the words of the next sound; with the last one all words that are left, without times."""
        said = self._timed(times)
        rest = last or not self._matches or not (times or self._any)
        if rest and not self._any and not said:
            text, said = self._sentence.text, self._words
        else:
            said += self._words if rest else []
            text = " ".join(word.text for word in said)
        self._any = True
        if rest:
            self._words, self._sentence = [], replace(self._sentence, text="")
        end = said[-1].source_end if said and self._words else self._place
        end = end if self._words else self._sentence.source_end
        start, self._place = self._place, end
        return SaidPiece(text, at, seconds, start, end, tuple(said))

    def _timed(self, times: Sequence[TimedText]) -> list[SaidWord]:
        """Returns the words that end within `times`; times of another text than that of the sentence are not used."""
        said: list[SaidWord] = []
        for time in times:
            for character in "".join(time.text.split()):
                if not self._matches or not self._words or not self._missing.startswith(character):
                    self._matches = False
                    return said
                self._missing = self._missing[len(character) :]
                if not self._missing:
                    said.append(replace(self._words.pop(0), until=self._sentence.at + time.until))
                    self._missing = self._words[0].text if self._words else ""
        return said
