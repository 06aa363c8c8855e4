"""Finds quotes in texts: exactly, else up to their form; never approximately. Knows no answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .evidence import EvidenceMatch
from .normal_text import NormalText, normal

MOST_OCCURRENCES = 100
_MOST_CANDIDATES = 10_000
_CANDIDATE_COST = 1000
_GROUPING = ".,'\u2019\u00a0\u202f"
_MINUS = "-\u2212"


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """The places of a quote in a text, in order, at least one; `start` and `end` are those of the first."""

    spans: tuple[tuple[int, int], ...]
    match: EvidenceMatch

    @property
    def start(self) -> int:
        """Where the first place begins."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where the first place ends."""
        return self.spans[0][1]

    @property
    def occurrences(self) -> int:
        """The number of places."""
        return len(self.spans)


class Budget:
    """A limit of the work of all searches, about a character each; the answer of a model may hold any number of quotes.

    `is_spent` says that further searches do nothing.
    """

    def __init__(self, work: int) -> None:
        self.left = work

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


class SearchedText:
    """A text that quotes are searched in; its normal form is made at the first search that needs it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._normal: NormalText | None = None

    def find(self, quote: str, budget: Budget, most: int = MOST_OCCURRENCES) -> QuoteMatch | None:
        """Returns up to `most` places of a quote, whole words and numbers only; None if there is none."""
        quote = quote.strip()
        if not quote:
            return None
        starts = _places(self.text, quote, budget, _whole_in(self.text), most)
        if starts:
            return QuoteMatch(tuple((start, start + len(quote)) for start in starts), "exact")
        wanted = normal(quote)
        if not wanted or budget.is_spent:
            return None
        if self._normal is None:
            self._normal = NormalText(self.text)
        form, is_whole, was_whole = self._normal, _whole_in(self._normal.text), _whole_in(self.text)

        def is_whole_in_both(start: int, end: int) -> bool:
            # The original has the no-break spaces in numbers, the normal form the words divided by hyphens.
            return is_whole(start, end) and was_whole(form.starts[start], form.ends[end - 1])

        starts = _places(form.text, wanted, budget, is_whole_in_both, most)
        if not starts:
            return None
        last = len(wanted) - 1
        return QuoteMatch(tuple((form.starts[start], form.ends[start + last]) for start in starts), "normalised")

    def has_inside_words(self, quote: str, budget: Budget) -> bool:
        """Returns whether a quote that was not found is a part of longer words or numbers."""
        wanted = normal(quote)
        if not wanted or self._normal is None or budget.is_spent:
            return False
        budget.left -= len(self._normal.text)
        return wanted in self._normal.text


def _places(text: str, quote: str, budget: Budget, is_whole: Callable[[int, int], bool], most: int) -> list[int]:
    """Returns where a quote begins, up to `most` places that do not overlap and are `is_whole`."""
    starts: list[int] = []
    position = 0
    for _ in range(_MOST_CANDIDATES):
        if budget.is_spent:
            break
        found = text.find(quote, position)
        budget.left -= (len(text) if found < 0 else found) - position + _CANDIDATE_COST + len(quote)
        if found < 0:
            break
        position = found + 1
        if is_whole(found, found + len(quote)):
            starts.append(found)
            position = found + len(quote)
            if len(starts) == most:
                break
    return starts


def _whole_in(text: str) -> Callable[[int, int], bool]:
    """Returns whether a span neither begins nor ends inside a word or a number, as "50" does in "1.50" or "-50"."""
    return lambda start, end: not (_is_inside(text, start) or _is_inside(text, end) or _drops_minus(text, start))


def _is_inside(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if before.isdigit():
        if after.isdigit():
            return True
        return after in _GROUPING and text[position + 1 : position + 2].isdigit()
    if after.isdigit():
        return before in _GROUPING and text[max(position - 2, 0) : position - 1].isdigit()
    return _is_cased(before) and _is_cased(after)


def _is_cased(character: str) -> bool:
    """Returns whether it is a letter of a script with upper and lower case, which are those that divide words."""
    return character.isalpha() and character.lower() != character.upper()


def _drops_minus(text: str, start: int) -> bool:
    if start == 0 or not text[start : start + 1].isdigit() or text[start - 1] not in _MINUS:
        return False
    return start == 1 or text[start - 2].isspace() or text[start - 2] == "("
