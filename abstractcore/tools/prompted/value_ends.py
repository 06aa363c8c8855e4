"""Finds where a value ends in text that arrives in pieces, visiting each character once.

`Markers`: recognises the beginning of a call, of an invented result or turn, in text that arrives in pieces.
`ThinkingScanner`: follows reasoning that a server leaves in the text. A call in it is a thought about a call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

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


TAGS: Final[Mapping[str, str]] = MappingProxyType({"<think>": "</think>", "<thinking>": "</thinking>"})
"""Tags that open and close reasoning in the templates of Qwen3, DeepSeek R1, GLM, MiniMax M2 and Hermes 4."""
_OPENING: Final = tuple(TAGS)


class ThinkingScanner:
    """Whether text that arrives in pieces is `inside` of reasoning. Without a closing tag all that follows is."""

    __slots__ = ("_tags", "inside")

    def __init__(self) -> None:
        self.inside = False
        self._tags = Tokens(_OPENING)

    def open(self, tag: str) -> None:
        """Begins reasoning that the tag `tag` opened."""
        self.inside, self._tags = True, Tokens((TAGS[tag],))

    def end(self, text: str, index: int) -> int:
        """Returns the index behind the closing tag; the length of `text` without one."""
        while index < len(text) and self.inside:
            index = self._candidate(text, index)
            if index < len(text) and self._tags.add(text[index]):
                self.inside, self._tags = False, Tokens(_OPENING)
            index += 1
        return min(index, len(text))

    def follow(self, text: str) -> None:
        """Reads text in which reasoning may begin and end."""
        index = 0
        while index < len(text):
            if self.inside:
                index = self.end(text, index)
                continue
            index = self._candidate(text, index)
            tag = self._tags.add(text[index]) if index < len(text) else ""
            if tag:
                self.open(tag)
            index += 1

    def _candidate(self, text: str, index: int) -> int:
        """Returns the index of the next character that may belong to a tag."""
        if self._tags.maybe:
            return index
        found = text.find("<", index)
        return found if found >= 0 else len(text)
