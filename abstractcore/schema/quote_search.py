"""Finds quotes in texts: exactly, else up to their form; never approximately. Knows no answers.

`NormalText`: a text in a form in which quotes are compared, with the place of each character in the original.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .evidence import EvidenceMatch

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d-"
_UNSEEN = (
    "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufeff"
)
"""Soft hyphens, joiners, and marks of the direction of a script."""
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]")
"""Superscript and subscript digits: after a digit, an exponent or the mark of a footnote."""
_IDEOGRAPH = re.compile(
    "[\u3001-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\U00020000-\U0003ffff]"
)
"""Characters of Chinese and Japanese, which have no spaces between words: lines end anywhere."""
_SPECIAL = re.compile("[^\x20-\x2c\x2e-\x7f]")
"""What is not copied in lower case. One set of characters and nothing else: `re` skips to these by a table."""
_SPACES = re.compile(r"\s+")
_SEVERAL_SPACES = re.compile(r" [ |]+|\| [ |]*")
"""Spaces, also with the borders of a table's cells, which a model that saw the file does not copy."""
_LINE_END = re.compile(r"[ \t\r]*\n\s*")
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\u3099\u309a]{1,30}")
"""Marks of a letter, as many as in stream-safe text (https://unicode.org/reports/tr15/): normalising is quadratic."""
_SHORT = 4
_ALIKE = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060\u02bc\u2039\u203a"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys(map(ord, _UNSEEN), None),
}


class NormalText:
    """A text in lower case, with single spaces, NFKC, one form of dashes and of quotation marks, and without invisible
    characters, hyphens between letters, also at the end of a line, borders of the cells of a table, and spaces between
    Chinese or Japanese characters. Raised digits after a digit stay what they are: 12\u00b3 is not 123.

    `text` has the result; the character at `i` was at `starts[i]:ends[i]`. Takes time and memory linear in the length.
    """

    def __init__(self, original: str) -> None:
        self._original = original
        self._pieces: list[str] = []
        self.starts, self.ends = array("l"), array("l")
        copied = 0
        while (special := _SPECIAL.search(original, copied)) is not None:
            begin = special.start()
            if begin > copied and _MARKS.match(original, begin):
                begin -= 1  # a mark belongs to the letter before it
            self._copy(copied, begin)
            copied = self._add_special(begin)
        self._copy(copied, len(original))
        self.text = "".join(self._pieces)

    def _add_special(self, begin: int) -> int:
        """Adds what begins there, and returns its end."""
        original, first = self._original, self._original[begin]
        if (spaces := _SPACES.match(original, begin)) is not None:
            self._add(" ", begin, spaces.end())
            return spaces.end()
        if first in _HYPHENS or first == "\u00ad":
            end = self._end_of_hyphen(begin)
            if end is not None:
                return end
        if first >= "\u3001" and self._pieces and self._pieces[-1] == " ":
            self._join_ideographs(begin)
        if begin > 0 and original[begin - 1].isdigit() and _RAISED.match(first):
            self._add(first, begin, begin + 1)
            return begin + 1
        marks = _MARKS.match(original, begin + 1)
        end = begin + 1 if marks is None else marks.end()
        cluster = original[begin:end]
        self._add(_common(cluster) if len(cluster) <= _SHORT else _fold(cluster), begin, end)
        return end

    def _join_ideographs(self, begin: int) -> None:
        """Removes the space before an ideograph that follows another."""
        space = self.starts[-1]
        if space > 0 and _IDEOGRAPH.match(self._original, space - 1) and _IDEOGRAPH.match(self._original, begin):
            self._pieces.pop()
            self.starts.pop()
            self.ends.pop()

    def _end_of_hyphen(self, begin: int) -> int | None:
        """Returns the end of a hyphen between letters with the line break after it; None for any other."""
        original = self._original
        line_end = _LINE_END.match(original, begin + 1)
        end = begin + 1 if line_end is None else line_end.end()
        between = begin > 0 and end < len(original) and original[begin - 1].isalpha() and original[end].isalpha()
        return end if between else None

    def _copy(self, begin: int, end: int) -> None:
        """Adds a stretch of ASCII without line breaks."""
        original = self._original
        for spaces in _SEVERAL_SPACES.finditer(original, begin, end):
            self._append(original[begin : spaces.start()].lower(), begin, spaces.start())
            self._add(" ", *spaces.span())
            begin = spaces.end()
        self._append(original[begin:end].lower(), begin, end)

    def _append(self, text: str, begin: int, end: int) -> None:
        if text[:1] == " " and self._ends_with_space():
            text, begin = text[1:], begin + 1
        if text:
            self._pieces.append(text)
            self.starts.extend(range(begin, end))
            self.ends.extend(range(begin + 1, end + 1))

    def _add(self, text: str, begin: int, end: int) -> None:
        if text and not (text == " " and self._ends_with_space()):
            self._pieces.append(text)
            self.starts.extend([begin] * len(text))
            self.ends.extend([end] * len(text))

    def _ends_with_space(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith(" ")


def _fold(cluster: str) -> str:
    alike = cluster.translate(_ALIKE)
    return unicodedata.normalize("NFKC", alike).casefold().translate(_ALIKE)


_common = lru_cache(maxsize=4096)(_fold)


def normal(text: str) -> str:
    """Returns the text of `NormalText`, without spaces and quotation marks at its ends."""
    return NormalText(text).text.strip(" \"'")


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


class WorkBudget:
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

    def find(self, quote: str, budget: WorkBudget, most: int = MOST_OCCURRENCES) -> QuoteMatch | None:
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

    def has_inside_words(self, quote: str, budget: WorkBudget) -> bool:
        """Returns whether a quote that was not found is a part of longer words or numbers."""
        wanted = normal(quote)
        if not wanted or self._normal is None or budget.is_spent:
            return False
        budget.left -= len(self._normal.text)
        return wanted in self._normal.text


def _places(text: str, quote: str, budget: WorkBudget, is_whole: Callable[[int, int], bool], most: int) -> list[int]:
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
