"""`MediaResult`, `TranscriptResult`: what a call of `llm.voice`, `llm.audio`, `llm.vision` or `llm.music` returns.

`MediaVerification`: what was heard in speech or read in an image, compared with what was asked for. `SpokenPiece`,
`HeardReply`: what was said of an answer, and what of it was heard before it was interrupted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

from .base_error import SchemaError
from .calls import Message
from .costs import CostSums, HasCostSums, checked_cost, checked_sums
from .json_values import (
    EMPTY,
    JSONObject,
    check_choice,
    check_count,
    check_items,
    check_real,
    check_text,
    freeze_object,
)
from .parts import MEDIA_PARTS, MediaPart
from .replies import CallWarning, Usage
from .reprs import Immutable, RichDisplay, ShortRepr
from .transcripts import Transcript


@dataclass(frozen=True, slots=True)
class WordDifference(Immutable):
    """Words that were expected and those that were found in their place; one of the two may be empty."""

    expected: str
    found: str

    def __post_init__(self) -> None:
        check_text(self.expected, "expected")
        check_text(self.found, "found")


@dataclass(frozen=True, slots=True)
class MediaVerification(Immutable):
    """The text that was to be said or shown, and what was heard or read. `words` are the expected ones; of them, and of
    those that were added in speech, `errors` are wrong. Case, punctuation and the spelling of numbers do not count.
    """

    expected: str
    found: str
    """What a second recogniser read."""
    words: int
    errors: int
    differences: tuple[WordDifference, ...] = ()
    """The words that differ."""

    def __post_init__(self) -> None:
        for name in ("expected", "found"):
            check_text(getattr(self, name), name)
        for name in ("words", "errors"):
            check_count(getattr(self, name), name)
        object.__setattr__(self, "differences", check_items(self.differences, WordDifference, "differences"))

    @property
    def word_error_rate(self) -> float:
        """Errors for each expected word: 0 if all are right, above 1 if more was added than expected."""
        return self.errors / self.words if self.words else float(self.errors > 0)

    @property
    def agreed(self) -> bool:
        """Whether no word is wrong."""
        return self.errors == 0


P = TypeVar("P", bound=MediaPart, covariant=True)
_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts(HasCostSums, Immutable, ShortRepr):
    """What is known of a call of a backend: its id, its model, and what it took.

    `cost` is in US dollars, exact, with that of calls of models that the backend made for it; it is None for the
    `cost_reason`. `estimated_cost` and `costs` are as in a `GenerateResponse`. `warnings` name what was asked for and
    not done. `metadata` is JSON that the backend adds; `seconds` is the duration, `trace_id` the id of the call in
    records.
    """

    backend: str
    model: str | None = None
    usage: Usage = _NO_USAGE
    cost: Decimal | None = None
    cost_reason: str | None = None
    warnings: tuple[CallWarning, ...] = ()
    metadata: JSONObject = EMPTY
    trace_id: str = ""
    seconds: float = 0.0
    estimated_cost: Decimal | None = None
    cost_sums: CostSums | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "estimated_cost", checked_cost(self.estimated_cost, "estimated_cost"))
        object.__setattr__(self, "cost_sums", checked_sums(self.cost_sums))
        object.__setattr__(self, "warnings", check_items(self.warnings, CallWarning, "warnings"))
        object.__setattr__(self, "metadata", freeze_object(self.metadata, "metadata"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MediaResult(BackendFacts, RichDisplay, Generic[P]):
    """Sound, images or a video that a backend made, with its facts; `verification` of a call with `verify=True`."""

    parts: tuple[P, ...]
    verification: MediaVerification | None = None

    def __post_init__(self) -> None:
        BackendFacts.__post_init__(self)
        object.__setattr__(self, "parts", check_items(self.parts, object, "parts"))
        for index, part in enumerate(self.parts):
            if not isinstance(part, MEDIA_PARTS):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise SchemaError(f"expected a media part, got {type(part).__name__}", f"parts[{index}]")
        if not self.parts:
            raise SchemaError("expected one part or several", "parts")

    def __display__(self) -> tuple[object, ...]:
        return self.parts

    @property
    def part(self) -> P:
        """The part, the first of several."""
        return self.parts[0]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes `part` to a file, or to a file of its own in a folder, and returns the path: see `AudioPart.save`."""
        return self.part.save(path)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscriptResult(BackendFacts):
    """What is said in a recording, with the facts of the backend that listened."""

    transcript: Transcript
    """The text with its segments."""

    @property
    def text(self) -> str:
        """The text of all segments."""
        return self.transcript.text


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
    """The words with their seconds, where the voice reports them."""

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
