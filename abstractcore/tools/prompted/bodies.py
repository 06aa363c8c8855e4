"""The bodies of calls: what follows a marker, read as it arrives until it ends or cannot be a call.

Calls that a model writes as JSON objects with a name and arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, cast

from .lenient_values import UnreadableError, as_json, read_json
from .offered import OfferedTools, ParsedCall
from .value_ends import MORE, Tokens, ValueEnd

_NAME_KEYS: Final = ("name", "function", "tool", "tool_name", "function_name", "action")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params", "action_input")
_BARE_KEYS: Final = frozenset({"name", "arguments", "parameters", "id", "type", "function"})
_NAME_IN_TEXT: Final = re.compile(r"""["']name["']\s*:\s*["']([^"']+)["']""")
_ARGUMENTS_IN_TEXT: Final = re.compile(r"""["'](?:arguments|parameters)["']\s*:\s*""")


def json_calls(
    text: str, offered: OfferedTools, *, bare: bool = False, complete: bool = True
) -> list[ParsedCall] | None:
    """Returns the calls in a JSON text: one object or a list of them; None if it is something else.

    `bare` is for JSON without a marker around it: only complete calls of offered tools, without further fields.
    With `complete`, brackets missing at the end are added.
    """
    try:
        value, repair = read_json(text, complete=complete)
    except UnreadableError:
        return None if bare else _salvage(text, offered)
    return _calls(value, offered, repair, bare=bare)


def argument_call(name: str, text: str, *, complete: bool = True, gemma: bool = False) -> ParsedCall:
    """Returns the call of a tool whose arguments are `text`, which stays as it is if it is not an object."""
    if not text.strip():
        return ParsedCall(name)
    try:
        value, repair = read_json(text, complete=complete, gemma=gemma)
    except UnreadableError:
        return ParsedCall(name, text.strip())
    return ParsedCall(name, as_json(value), repair)


def _calls(value: Any, offered: OfferedTools, repair: str | None, *, bare: bool) -> list[ParsedCall] | None:
    if isinstance(value, Mapping) and "tool_calls" in value and len(cast("dict[str, Any]", value)) == 1:
        value = cast("dict[str, Any]", value)["tool_calls"]
    items: list[object] = cast("list[object]", value) if isinstance(value, list) else [value]
    calls = [_call(item, offered, repair, bare=bare) for item in items]
    return [call for call in calls if call is not None] if calls and None not in calls else None


def _call(value: object, offered: OfferedTools, repair: str | None, *, bare: bool) -> ParsedCall | None:
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, Any]", value)
    if bare and not _BARE_KEYS.issuperset(fields):
        return None
    inner = fields.get("function")
    if isinstance(inner, Mapping):
        fields = cast("Mapping[str, Any]", inner)
    keys = _NAME_KEYS[:1] if bare else _NAME_KEYS
    name = next((found for key in keys if (found := offered.named(fields.get(key))) is not None), None)
    given = [key for key in (_ARGUMENT_KEYS[:2] if bare else _ARGUMENT_KEYS) if key in fields]
    if name is None or (bare and (name not in offered or not given)):
        return None
    arguments: Any = fields[given[0]] if given else None
    if isinstance(arguments, str) and arguments.strip():
        return _with_repair(argument_call(name, arguments), repair)
    return ParsedCall(name, as_json({} if arguments in (None, "") else arguments), repair)


def _with_repair(call: ParsedCall, repair: str | None) -> ParsedCall:
    repairs = [each for each in (repair, call.repair) if each]
    return ParsedCall(call.name, call.arguments_text, ", ".join(repairs) or None)


def _salvage(text: str, offered: OfferedTools) -> list[ParsedCall] | None:
    """Returns the call of an offered tool with arguments that cannot be read, for the model to correct."""
    named = _NAME_IN_TEXT.search(text)
    arguments = _ARGUMENTS_IN_TEXT.search(text)
    name = offered.named(named[1]) if named is not None else None
    if name is None or name not in offered or arguments is None:
        return None
    rest = text[arguments.end() :].rstrip()
    return [ParsedCall(name, rest[:-1].rstrip() if rest.endswith("}") else rest)]


_BEFORE_JSON: Final = re.compile(r"\s*(?:`{1,2}|```[\w+-]{0,20}\s*)?")
_BRACKET: Final = re.compile(r"[{\[]")
_LONGEST_HEADER: Final = 256


class CallBody(Protocol):
    """What follows a marker of a call. `text` of `read` is all of it, without the marker."""

    @property
    def failed(self) -> bool:
        """Whether the text is not a call: the index that `feed` returned is of the first character outside of it."""
        ...

    @property
    def marker(self) -> str:
        """The end marker that was read with the body, if any."""
        ...

    @property
    def unread(self) -> str:
        """Text that was read behind the end, to be read again."""
        ...

    def feed(self, text: str, start: int) -> int:
        """Returns the index after the body, or `MORE`."""
        ...

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        """Returns the calls; None if the text has none. `at_end`: the reply ended within the body."""
        ...


class Calls(NamedTuple):
    """Calls of a body, and the text behind them."""

    calls: list[ParsedCall]
    rest: str = ""


@dataclass(frozen=True, slots=True)
class JsonGrammar:
    """Calls as JSON objects with a name and arguments, or a list of them.

    A `bare` one has no marker but its first bracket.
    """

    ends: tuple[str, ...] = ()
    bare: bool = False

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        return _JsonBody(self, marker, offered)


class _JsonBody:
    def __init__(self, grammar: JsonGrammar, marker: str, offered: OfferedTools) -> None:
        self.failed, self.marker, self.unread = False, "", ""
        self._grammar, self._offered = grammar, offered
        self._bracket = marker if grammar.bare else ""
        self._before = ""
        self._end: ValueEnd | None = None
        self._key = _FirstKey() if grammar.bare else None
        self._began = grammar.bare

    def feed(self, text: str, start: int) -> int:
        index = start
        while not self._began:
            if index == len(text):
                return MORE
            character = text[index]
            if character in "{[":
                self._began = True
                break
            if not character.isspace() or self._before:
                self._before += character
            if _BEFORE_JSON.fullmatch(self._before) is None or len(self._before) > 40:
                self.failed = True
                return index
            index += 1
        while self._key is not None and index < len(text):
            if self._key.refuses(text[index]):
                self.failed = True
                return index
            index += 1
            self._before += text[index - 1]
            if self._key.accepted:
                self._key = None
        if self._key is not None:
            return MORE
        if self._end is None:
            self._end = ValueEnd(self._grammar.ends)
            if self._bracket:
                self._end.feed(self._bracket + self._before)
        found = self._end.feed(text, index)
        self.marker = self._end.marker
        return found

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        bare = self._grammar.bare
        text = self._bracket + text.removesuffix(self.marker)
        begins = _BRACKET.search(text)
        text = text[begins.start() :] if begins is not None else text
        calls = json_calls(text, self._offered, bare=bare, complete=not bare)
        if calls is None and at_end and (split := _at_first(text, self._grammar.ends)) is not None:
            calls = json_calls(split[0], self._offered, bare=bare)
            return Calls(calls, split[1]) if calls is not None else None
        return Calls(calls) if calls is not None else None


class _FirstKey:
    """Refuses an object that does not begin with a key of a call."""

    _BEGINNINGS: Final = frozenset(
        f"{quote}{key}{quote}"[:end]
        for key in ("name", "type", "function", "id", "arguments", "parameters")
        for quote in ('"', "'")
        for end in range(1, len(key) + 3)
    )

    def __init__(self) -> None:
        self.accepted = False
        self._seen = ""

    def refuses(self, character: str) -> bool:
        if not self._seen and (character.isspace() or character in "{["):
            return False
        self._seen += character
        self.accepted = len(self._seen) > 1 and character in "'\""
        return self._seen not in self._BEGINNINGS


@dataclass(frozen=True, slots=True)
class NamedGrammar:
    """Calls with the name before their arguments, which are one object.

    `header` matches all text from the marker to the arguments; its group `name` is the name.
    """

    header: re.Pattern[str]
    ends: tuple[str, ...] = ()
    gemma: bool = False

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        return _NamedBody(self, marker, offered)


class _NamedBody:
    def __init__(self, grammar: NamedGrammar, marker: str, offered: OfferedTools) -> None:
        self.failed, self.marker, self.unread = False, "", ""
        self._grammar, self._offered, self._begin = grammar, offered, marker
        self._header: list[str] = []
        self._size = 0
        self._began = False
        self._end = ValueEnd(grammar.ends, gemma=grammar.gemma)
        self._early = Tokens(grammar.ends)

    def feed(self, text: str, start: int) -> int:
        index = start
        while not self._began:
            if index == len(text):
                return MORE
            if text[index] == "{":
                self._began = True
                break
            if text[index] in "}\"'" or self._size > _LONGEST_HEADER:
                self.failed = True
                return index
            self._header.append(text[index])
            self._size += 1
            self.marker = self._early.add(text[index])
            index += 1
            if self.marker:
                return index
        found = self._end.feed(text, index)
        self.marker = self._end.marker
        return found

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        text, rest = text.removesuffix(self.marker), ""
        header = "".join(self._header).removesuffix(self.marker)
        match = self._grammar.header.fullmatch(self._begin + header)
        name = self._offered.named(match["name"]) if match is not None else None
        if name is None:
            return None
        arguments = text[len(header) :]
        if at_end and not self._began:
            return None
        call = argument_call(name, arguments, gemma=self._grammar.gemma)
        if at_end and call.repair is None and (split := _at_first(arguments, self._grammar.ends)) is not None:
            arguments, rest = split
            call = argument_call(name, arguments, gemma=self._grammar.gemma)
        return Calls([call], rest)


@dataclass(frozen=True, slots=True)
class FirstCharacterGrammar:
    """One of two grammars, by the first character behind the marker: JSON begins with a bracket."""

    json: JsonGrammar
    other: NamedGrammar

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        return _ChosenBody(self, marker, offered)


class _ChosenBody:
    def __init__(self, grammar: FirstCharacterGrammar, marker: str, offered: OfferedTools) -> None:
        self._grammar, self._begin, self._offered = grammar, marker, offered
        self._chosen: CallBody | None = None
        self._spaces = ""
        self.unread = ""

    @property
    def failed(self) -> bool:
        return self._chosen is not None and self._chosen.failed

    @property
    def marker(self) -> str:
        return self._chosen.marker if self._chosen is not None else ""

    def feed(self, text: str, start: int) -> int:
        index = start
        while self._chosen is None:
            if index == len(text):
                return MORE
            if not text[index].isspace():
                grammar = self._grammar.json if text[index] in "[{`" else self._grammar.other
                self._chosen = grammar.body(self._begin, self._offered)
                break
            index += 1
        return self._chosen.feed(text, index)

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        return self._chosen.read(text.lstrip(), at_end=at_end) if self._chosen is not None else None


def _at_first(text: str, markers: tuple[str, ...]) -> tuple[str, str] | None:
    """Returns the text before and behind the first of `markers` in it."""
    found = [(text.find(marker), marker) for marker in markers if marker in text]
    if not found:
        return None
    position, marker = min(found)
    return text[:position], text[position + len(marker) :]
