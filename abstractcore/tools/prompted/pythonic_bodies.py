"""Calls written as Python: `[weather(city="Oslo")]`, or a code block of such calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, cast

from .bodies import CallBody, Calls
from .lenient_values import LenientReader, UnreadableError, as_json
from .offered import OfferedTools, ParsedCall
from .value_ends import MORE, Tokens, ValueEnd

_FIRST_CALL: Final = re.compile(r"\s*(?:[A-Za-z_][\w.-]*\s*\(?)?")
_PARAMETER: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")


@dataclass(frozen=True, slots=True)
class PythonGrammar:
    """A list of calls, or with `statements` calls of their own until an end marker.

    With `bare`, all calls must be of offered tools.
    """

    ends: tuple[str, ...] = ()
    bare: bool = False
    statements: bool = False

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        return _PythonBody(self, marker, offered)


class _PythonBody:
    def __init__(self, grammar: PythonGrammar, marker: str, offered: OfferedTools) -> None:
        self.failed, self.marker, self.unread = False, "", ""
        self._grammar, self._offered = grammar, offered
        self._opened = marker == "["
        self._list = self._opened
        self._first = ""
        self._end: ValueEnd | None = None
        self._statements_end: StatementsEnd | None = None

    def feed(self, text: str, start: int) -> int:
        index = start
        while not self._opened:
            if index == len(text):
                return MORE
            character = text[index]
            if not character.isspace():
                self._opened = True
                self._list = character == "["
                self._first = "(" if not self._list else ""
                break
            index += 1
        if not self._list:
            if self._statements_end is None:
                self._statements_end = StatementsEnd(self._grammar.ends)
            found = self._statements_end.feed(text, index)
            self.marker = self._statements_end.marker
            return found
        while "(" not in self._first:
            if index == len(text):
                return MORE
            if not (self._first == "" and text[index] == "[" and self._grammar.ends):
                self._first += text[index]
                if _FIRST_CALL.fullmatch(self._first) is None or len(self._first) > 200:
                    self.failed = True
                    return index
            index += 1
        if self._end is None:
            self._end = ValueEnd(self._grammar.ends, python=True)
            self._end.feed("[" + self._first)
        found = self._end.feed(text, index)
        self.marker = self._end.marker
        return found

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        reader = CallReader(text.removesuffix(self.marker), self._offered)
        try:
            if self._list and not text.lstrip().startswith("["):
                reader = CallReader("[" + text.removesuffix(self.marker), self._offered)
            calls = reader.calls()
        except UnreadableError:
            return None
        if at_end and (self._grammar.bare or not calls):
            return None
        if self._grammar.bare and not all(call.name in self._offered for call in calls):
            return None
        return Calls(calls) if calls else None


class StatementsEnd:
    """Finds the end marker of statements, outside of strings and brackets."""

    def __init__(self, ends: tuple[str, ...]) -> None:
        self._ends = Tokens(ends)
        self._value: ValueEnd | None = None
        self.marker = ""

    def feed(self, text: str, start: int) -> int:
        """Returns the index after the end marker, or `MORE`."""
        index = start
        while index < len(text):
            if self._value is not None:
                found = self._value.feed(text, index)
                if found == MORE:
                    return MORE
                index, self._value = found, None
                continue
            character = text[index]
            if character in "([{":
                self._value = ValueEnd(python=True)
                continue
            index += 1
            self.marker = self._ends.add(character)
            if self.marker:
                return index
        return MORE


class CallReader(LenientReader):
    """Reads calls in Python's syntax."""

    def __init__(self, text: str, offered: OfferedTools) -> None:
        super().__init__(text, python=True)
        self._offered = offered

    def calls(self) -> list[ParsedCall]:
        """Returns all calls of the text: in a list, or one statement after the other; raises `UnreadableError`."""
        found: list[ParsedCall] = []
        while self.skip_space():
            if self.take("["):
                while not self.take("]"):
                    found.append(self.call())
                    if not self.take(",") and self.skip_space() not in ("]", ""):
                        raise UnreadableError("expected a comma")
                    if not self.skip_space():
                        self.repairs["missing bracket"] = None
                        break
            else:
                found.append(self.call())
            while self.take(";") or self.take(","):
                pass
        repair = ", ".join(self.repairs) or None
        return [ParsedCall(call.name, call.arguments_text, repair) for call in found]

    def call(self) -> ParsedCall:
        """Returns the call at the position; `print(...)` around it is left out. Raises `UnreadableError`."""
        word = self.word()
        if word is None or not self.take("("):
            raise UnreadableError("expected a call")
        if word == "print" and word not in self._offered:
            call = self.call()
            if not self.take(")"):
                raise UnreadableError("expected a bracket")
            return call
        name = self._offered.named(word)
        if name is None:
            raise UnreadableError("expected a name")
        return ParsedCall(name, as_json(self._arguments(name)))

    def _arguments(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        positional = 0
        while not self._ends(")"):
            if self.take("**"):
                found |= self._mapping()
            elif (match := _PARAMETER.match(self.text, self.position)) is not None:
                self.position = match.end()
                found[match[1]] = self.value(1)
            else:
                names = self._offered.parameters(name)
                if positional >= len(names):
                    raise UnreadableError("an argument without a name")
                found[names[positional]] = self.value(1)
                positional += 1
            if not self._goes_on(")"):
                break
        return found

    def _mapping(self) -> dict[str, Any]:
        value = self.value(1)
        if not isinstance(value, dict):
            raise UnreadableError("expected a dictionary")
        return cast("dict[str, Any]", value)
