"""Finds where a value ends in text that arrives in pieces, visiting each character once."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

MORE: Final = -1
"""The end of the piece was reached first."""

_QUOTES: Final = {quote: re.compile(f"[{quote}\\\\]") for quote in ("'", '"')}
_GEMMA_QUOTES: Final = ('<|"|>',)
_BEFORE_A_VALUE: Final = frozenset("{[(,:=")


@cache
def beginnings_of(tokens: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the tokens and their beginnings. The tokens are those of the formats, so that the cache stays small."""
    return frozenset(tokens), frozenset(token[:end] for token in tokens for end in range(1, len(token)))


class Tokens:
    """Recognises tokens in text that arrives one character at a time. `seen` is the beginning of one."""

    __slots__ = ("_beginnings", "_tokens", "seen")

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self._tokens, self._beginnings = beginnings_of(tokens)
        self.seen = ""

    def add(self, character: str) -> str:
        """Returns the token that `character` completes, or an empty text."""
        text = self.seen + character
        while text not in self._tokens and text not in self._beginnings and text:
            text = text[1:]
        if text in self._tokens:
            self.seen = ""
            return text
        self.seen = text
        return ""

    @property
    def maybe(self) -> bool:
        """Whether a token may have begun."""
        return bool(self.seen)


class ValueEnd:
    """Finds the end of an object, a list or (with `python`) arguments in parentheses.

    An end marker of the call before the last bracket ends the value too: `marker` is it then.
    """

    __slots__ = ("_before", "_depth", "_gemma", "_opened", "_python", "_quote", "_run", "_skip", "_tokens", "marker")

    def __init__(self, markers: tuple[str, ...] = (), *, python: bool = False, gemma: bool = False) -> None:
        self._gemma = Tokens(_GEMMA_QUOTES) if gemma else None
        self._tokens = Tokens((*markers, *_GEMMA_QUOTES) if gemma else markers)
        self._python = python
        self._depth = 0
        self._quote = ""
        self._opened = 0
        self._run = 0
        self._skip = False
        self._before = ""
        self.marker = ""

    def feed(self, text: str, start: int = 0) -> int:
        """Returns the index after the value, or `MORE`."""
        index, length = start, len(text)
        while index < length:
            if self._quote:
                index = self._in_string(text, index)
                continue
            character = text[index]
            index += 1
            if self._outside(character):
                return index
        return MORE

    def _outside(self, character: str) -> bool:
        """Reads a character that is not in a string; returns whether the value ends with it."""
        if self._tokens.maybe or character in "<[`":
            token = self._tokens.add(character)
            if token == '<|"|>':
                self._quote = token
                return False
            if token:
                self.marker = token
                return True
        if character in "{[" or (character == "(" and self._python):
            self._depth += 1
        elif character in "}]" or (character == ")" and self._python):
            self._depth -= 1
            if self._depth <= 0:
                return True
        elif not self._tokens.maybe and (
            character == '"' or (character == "'" and (self._python or self._before in _BEFORE_A_VALUE))
        ):
            self._quote, self._opened, self._run = character, 1, 0
        if not character.isspace():
            self._before = character
        return False

    def _in_string(self, text: str, index: int) -> int:
        """Moves to the end of the string, or of the text."""
        quote = self._quote
        if self._skip:
            self._skip = False
            return index + 1
        if self._gemma is not None and len(quote) == 5:
            return self._in_gemma_string(text, index)
        if self._python and self._opened:
            return self._at_opening(text[index], index)
        match = _QUOTES[quote[0]].search(text, index)
        if match is None:
            self._run = 0
            return len(text)
        if match.start() > index:
            self._run = 0
        if match[0] == "\\":
            self._skip, self._run = True, 0
            return match.end()
        self._run += 1
        if self._run == len(quote):
            self._close(quote[0])
        return match.end()

    def _at_opening(self, character: str, index: int) -> int:
        """Decides after one or two quotes of Python whether they open a string of three quotes."""
        quote = self._quote
        if character == quote:
            self._opened += 1
            if self._opened == 3:
                self._quote, self._opened = quote * 3, 0
            return index + 1
        if self._opened == 2:
            self._close(quote)
        self._opened = 0
        return index

    def _in_gemma_string(self, text: str, index: int) -> int:
        assert self._gemma is not None
        while index < len(text):
            index += 1
            if self._gemma.add(text[index - 1]):
                self._close('"')
                break
        return index

    def _close(self, quote: str) -> None:
        self._quote, self._opened, self._run, self._before = "", 0, 0, quote
