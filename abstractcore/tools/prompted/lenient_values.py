"""`LenientReader`: reads values that models write as JSON or as Python literals, with common mistakes.

Escapes in the strings of JSON and Python.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import Any, Final

from ...errors import AbstractCoreError

_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_PYTHON: Final = {"a": "\a", "v": "\v", "\n": ""}
_PAIRS: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def unescape(text: str, *, python: bool) -> str:
    """Returns the content of a string literal; an unknown escape stays as it is."""
    if "\\" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:], 16))
        if python and len(code) > 1 and code[0] in "xU":
            number = int(code[1:], 16)
            return chr(number) if number < 0x110000 else match[0]
        if python and code[0].isdigit():
            return chr(int(code, 8))
        short = _SHORT.get(code) if code in _SHORT else _PYTHON.get(code) if python else None
        return match[0] if short is None else short

    whole = _ESCAPE.sub(replaced, text)
    return _PAIRS.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), whole)


_SPACE: Final = re.compile(r"\s*")
_NUMBER: Final = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$.-]*")
_BARE_TEXT: Final = re.compile(r"[^,{}\[\]<>]+")
_STRINGS: Final = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    '"""': re.compile(r'"""((?:[^"\\]|\\.|"(?!""))*)"""', re.DOTALL),
    "'''": re.compile(r"'''((?:[^'\\]|\\.|'(?!''))*)'''", re.DOTALL),
}
_JSON_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: Final[dict[str, Any]] = {"True": True, "False": False, "None": None}
_MOST_NESTED: Final = 100
GEMMA_QUOTE: Final = '<|"|>'


class UnreadableError(AbstractCoreError, ValueError):
    """The text is not a value, or cannot be completed to one."""


class LenientReader:
    """Reads values from `text`. `repairs` holds the mistakes found so far.

    With `python`, Python's literals are allowed; with `gemma`, those of Gemma 4 (bare keys, texts in `<|"|>`).
    With `complete`, brackets missing at the end are added.
    """

    def __init__(self, text: str, *, python: bool = False, gemma: bool = False, complete: bool = True) -> None:
        self.text = text
        self.position = 0
        self.repairs: dict[str, None] = {}
        self._python, self._gemma, self._complete = python, gemma, complete

    def skip_space(self) -> str:
        """Moves to the next character that is not white space, and returns it; empty at the end."""
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match is not None else self.position
        return self.text[self.position : self.position + 1]

    def value(self, depth: int = 0) -> Any:
        """Returns the value at the position; raises `UnreadableError`."""
        if depth > _MOST_NESTED:
            raise UnreadableError("nested too deeply")
        first = self.skip_space()
        if first == "{":
            return self._object(depth)
        if first == "[" or (first == "(" and self._python):
            return self._items("]" if first == "[" else ")", depth)
        if first and (first in "\"'" or self._at_gemma_quote()):
            return self.string()
        return self._number_or_word()

    def take(self, text: str) -> bool:
        """Moves over `text` if it comes next, after white space."""
        self.skip_space()
        if not self.text.startswith(text, self.position):
            return False
        self.position += len(text)
        return True

    def word(self) -> str | None:
        """Moves over a name, and returns it; None if there is none."""
        self.skip_space()
        match = _WORD.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[0]

    def string(self) -> str:
        """Returns the string at the position; raises `UnreadableError`."""
        if self._at_gemma_quote():
            begin = self.position + len(GEMMA_QUOTE)
            end = self.text.find(GEMMA_QUOTE, begin)
            if end < 0:
                raise UnreadableError("a text without its end")
            self.position = end + len(GEMMA_QUOTE)
            return self.text[begin:end]
        quote = self.text[self.position]
        if self._python and self.text.startswith(quote * 3, self.position):
            quote *= 3
        match = _STRINGS[quote].match(self.text, self.position)
        if match is None:
            raise UnreadableError("a text without its end")
        self.position = match.end()
        if self._python:
            return unescape(match[1], python=True)
        if quote == "'":
            self.repairs["single quotes"] = None
        return unescape(match[1], python=False)

    def _at_gemma_quote(self) -> bool:
        return self._gemma and self.text.startswith(GEMMA_QUOTE, self.position)

    def _object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        found: dict[str, Any] = {}
        while not self._ends("}"):
            key = self._key()
            if not self.take(":"):
                raise UnreadableError("a key without a value")
            found[key] = self.value(depth + 1)
            if not self._goes_on("}"):
                break
        return found

    def _key(self) -> str:
        first = self.skip_space()
        if first and (first in "\"'" or self._at_gemma_quote()):
            return self.string()
        key = self.word()
        if key is None:
            raise UnreadableError("expected a key")
        if not self._gemma:
            self.repairs["keys without quotes"] = None
        return key

    def _items(self, end: str, depth: int) -> list[Any]:
        self.position += 1
        found: list[Any] = []
        while not self._ends(end):
            found.append(self.value(depth + 1))
            if not self._goes_on(end):
                break
        return found

    def _ends(self, bracket: str) -> bool:
        """Moves over `bracket`, also after a trailing comma, if it comes next."""
        if self.skip_space() == "" and self._complete:
            self.repairs["missing bracket"] = None
            return True
        if not self.take(bracket):
            return False
        if not self._python and self.text[: self.position - 1].rstrip()[-1:] == ",":
            self.repairs["trailing comma"] = None
        return True

    def _goes_on(self, bracket: str) -> bool:
        """Moves over a comma, or over the bracket; returns whether another item may follow."""
        if self.take(","):
            return True
        if self._ends(bracket):
            return False
        raise UnreadableError("expected a comma")

    def _number_or_word(self) -> Any:
        match = _NUMBER.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
            return _number(match[0])
        begin, word = self.position, self.word()
        if word in _JSON_WORDS:
            return _JSON_WORDS[word]
        if word in _PYTHON_WORDS:
            if not self._python:
                self.repairs["Python's constants"] = None
            return _PYTHON_WORDS[word]
        bare = _BARE_TEXT.match(self.text, begin) if self._gemma else None
        if bare is None:
            raise UnreadableError("expected a value")
        self.repairs["a text without quotes"] = None
        self.position = bare.end()
        return bare[0].strip()


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            raise UnreadableError("expected a number") from None
    if not math.isfinite(number):
        raise UnreadableError("a number out of range")
    return number


def read_json(text: str, *, complete: bool = True, gemma: bool = False) -> tuple[Any, str | None]:
    """Returns the value of a JSON text, and what was repaired, if anything; raises `UnreadableError`."""
    if not gemma:
        with suppress(ValueError, RecursionError):
            return json.loads(text, strict=False, parse_constant=_refuse_constant), None
    reader = LenientReader(text, gemma=gemma, complete=complete)
    value = reader.value()
    if reader.skip_space():
        raise UnreadableError("text after the value")
    return value, ", ".join(reader.repairs) or None


def _refuse_constant(constant: str) -> None:
    raise UnreadableError(f"{constant} is not JSON")


def as_json(value: object) -> str:
    """Returns `value` as JSON on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _is_unicode(text) else json.dumps(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
