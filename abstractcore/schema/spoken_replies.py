"""`SpokenPiece`, `HeardReply`: what was said of an answer, and what of it was heard before it was interrupted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from .immutable import Immutable
from .json_values import check_choice, check_count, check_items, check_real, check_text
from .messages import Message

HeardMeans: TypeAlias = Literal["all", "nothing", "delivered", "sentences", "word_times", "proportion"]
"""How it is known what was heard: everything or nothing was played; everything that was delivered is taken as heard,
since the played time was not given; playing ended between two pieces; within a piece, by the times of its words, or by
the share of its sound that was played."""
_MEANS = get_args(HeardMeans)


@dataclass(frozen=True, slots=True)
class SpokenWord(Immutable):
    """A word as it was spoken. `source_end` is the end of what it stands for in the text; `until` the second of the
    reply at which it has been said, None if the voice does not report it.
    """

    text: str
    source_end: int
    until: float | None = None

    def __post_init__(self) -> None:
        check_text(self.text, "text")
        check_count(self.source_end, "source_end")
        if self.until is not None:
            check_real(self.until, "until")


@dataclass(frozen=True, slots=True)
class SpokenPiece(Immutable):
    """A sentence or a part of one as it was spoken, from the second `at` on for `seconds`.

    `source_start` and `source_end` are the characters of the text that it stands for.
    """

    text: str
    at: float
    seconds: float
    source_start: int
    source_end: int
    words: tuple[SpokenWord, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.text, "text")
        for name in ("at", "seconds"):
            check_real(getattr(self, name), name)
        for name in ("source_start", "source_end"):
            check_count(getattr(self, name), name)
        object.__setattr__(self, "words", check_items(self.words, SpokenWord, "words"))


@dataclass(frozen=True, slots=True)
class HeardReply(Immutable):
    """What was heard of a spoken answer, of which `seconds` were played.

    `text` is the beginning of the written answer that was heard, `spoken` the words that were said of it, and `means`
    how that is known. `messages` continue the conversation: those of the answer, without the text that was not heard.
    """

    text: str
    spoken: str
    seconds: float | None
    means: HeardMeans
    messages: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        for name in ("text", "spoken"):
            check_text(getattr(self, name), name)
        if self.seconds is not None:
            check_real(self.seconds, "seconds")
        check_choice(self.means, _MEANS, "means")
        object.__setattr__(self, "messages", check_items(self.messages, Message, "messages"))
