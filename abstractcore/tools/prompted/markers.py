"""`Markers`: recognises the beginning of a call, of an invented result or turn, in text that arrives in pieces."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from .value_ends import beginnings_of

_FENCE: Final = re.compile(r"```[\w+-]{0,20}[ \t]{0,4}\r?\n?[ \t\n]{0,8}")


class Marker(NamedTuple):
    """A marker that was found. `raw` is the text up to its end, with a code fence before it."""

    text: str
    raw: str


class Markers:
    """A set of markers, of which none is the beginning of another. Each may follow the opening of a code fence."""

    __slots__ = ("_beginnings", "_first", "_markers", "visits")

    def __init__(self, markers: tuple[str, ...]) -> None:
        self._markers, self._beginnings = beginnings_of(markers)
        self._first = _first_characters(markers)
        self.visits = 0

    def first(self, text: str, start: int) -> int:
        """Returns the index of the first character that may begin a marker; the length of `text` if there is none."""
        match = self._first.search(text, start)
        end = match.start() if match is not None else len(text)
        self.visits += end - start
        return end

    def found(self, text: str) -> Marker | None:
        """Returns the marker that `text` is."""
        self.visits += len(text)
        if text in self._markers:
            return Marker(text, text)
        fence = _FENCE.match(text) if text[0] == "`" else None
        if fence is not None and text[fence.end() :] in self._markers:
            return Marker(text[fence.end() :], text)
        return None

    def may_begin(self, text: str) -> bool:
        """Returns whether `text` is the beginning of a marker, or of a fence and a marker."""
        self.visits += len(text)
        if text in self._beginnings or text in ("`", "``"):
            return True
        if text[0] != "`" or text in self._markers:
            return False
        fence = _FENCE.match(text)
        return fence is not None and (fence.end() == len(text) or text[fence.end() :] in self._beginnings)


@cache
def _first_characters(markers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("[" + re.escape("".join(sorted({marker[0] for marker in markers} | {"`"}))) + "]")
