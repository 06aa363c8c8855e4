"""`Utterance`: what is said in one breath, and where it stands in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .mapped import MappedText

Kind: TypeAlias = Literal["text", "heading", "item", "row", "code", "math"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of the source, or another piece that is said at once, still with its marks.

    `last` is True at the end of a paragraph, heading or item.
    """

    kind: Kind
    content: MappedText
    last: bool


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence to be said. `start` and `end` are the characters of the source that it stands for."""

    said: MappedText
    start: int
    end: int
    kind: Kind
    last: bool
    """Whether a paragraph, heading or item ends here: a longer pause follows."""

    @property
    def text(self) -> str:
        """The words to be said, with punctuation marks."""
        return self.said.text

    def heard(self, characters: int) -> int:
        """Returns the end of what was heard in the source, if the first `characters` of the text were."""
        if characters <= 0:
            return self.start
        if characters >= len(self.said):
            return self.end
        return self.said.spans[characters - 1][1]
