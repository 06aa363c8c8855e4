"""`MediaVerification`: what was heard in speech or read in an image, compared with what was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .json_values import check_count, check_items, check_text


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
    words: int
    errors: int
    differences: tuple[WordDifference, ...] = ()

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
