"""Calls whose arguments are tagged texts: Qwen-coder, GLM, MiniMax."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from .bodies import CallBody, Calls
from .lenient_values import UnreadableError, as_json, read_json
from .offered import OfferedTools, ParsedCall, json_type
from .value_ends import MORE, Tokens

_LONGEST_HEAD: Final = 200
_TEXT: Final = frozenset({"string"})
_ESCAPED: Final = "\\u003c"


@dataclass(frozen=True, slots=True)
class TagGrammar:
    """A call with a tag for its name and for each argument.

    `head` matches the text from the marker to the first argument; its group `name` is the name. `parameter` matches an
    argument, with the groups `key` and `value`. `head_beginnings` are the tags that must follow the marker, if any.
    """

    head: re.Pattern[str]
    parameter: re.Pattern[str]
    opens: str
    closes: str
    end: str
    followers: tuple[str, ...]
    head_tags: tuple[str, ...] = ()
    attribute_keys: bool = False

    def body(self, marker: str, offered: OfferedTools) -> CallBody:
        """Returns the reader of what follows `marker`."""
        return _TaggedBody(self, marker, offered)

    def write_key(self, key: str) -> str:
        """Returns a key as it is written in a tag."""
        if self.attribute_keys:
            return html.escape(key)
        return key if re.fullmatch(r"[^\s<>\"]+", key) else _as_escaped_json(key)

    def write_value(self, value: object, types: frozenset[str]) -> str:
        """Returns a value as the text of an argument, so that reading it returns the value."""
        if not isinstance(value, str):
            return as_json(value).replace("<", _ESCAPED)
        tags = (self.opens, self.closes, self.end)
        if read_value(value, types) == value and not any(tag in value for tag in tags):
            return value
        return _as_escaped_json(value)

    def read_key(self, text: str) -> str:
        """Returns the key that a tag holds."""
        if self.attribute_keys:
            return html.unescape(text)
        text = text.strip()
        if text[:1] == '"' and text[-1:] == '"':
            try:
                return str(json.loads(text))
            except ValueError:
                return text
        return text


def _without_begun(text: str, tags: tuple[str, ...]) -> str:
    """Returns a text without the beginning of a tag at its end."""
    begin = text.rfind("<")
    return text[:begin] if begin >= 0 and any(tag.startswith(text[begin:]) for tag in tags) else text


def _as_escaped_json(text: str) -> str:
    return as_json(text).replace("<", _ESCAPED).replace(">", "\\u003e")


def read_value(text: str, types: frozenset[str]) -> Any:
    """Returns the value of an argument of these JSON types: text as it is where a text is allowed, else JSON.

    Without known types, what can be read as JSON is JSON. A JSON string in place of a text has escaped tags.
    """
    if text[:1] == "\n" and text[-1:] == "\n" and len(text) > 1:
        text = text[1:-1]
    if types == _TEXT and not (text[:1] == '"' and _ESCAPED in text):
        return text
    try:
        value, repair = read_json(text)
    except UnreadableError:
        return text
    kind = json_type(value)
    if not types:
        return value if repair is None else text
    if kind in types or (kind == "integer" and "number" in types) or "string" not in types:
        return value
    return value if types == _TEXT and isinstance(value, str) else text


class _TaggedBody:
    def __init__(self, grammar: TagGrammar, marker: str, offered: OfferedTools) -> None:
        self.failed, self.marker, self.unread = False, "", ""
        self._grammar, self._offered, self._begin = grammar, offered, marker
        self._head = marker
        self._state = "head"
        self._outside = Tokens((grammar.opens, grammar.end))
        self._inside = Tokens((grammar.closes, grammar.end))
        self._after = Tokens(grammar.followers)
        self._behind = ""
        self._arguments = 0

    def feed(self, text: str, start: int) -> int:
        index = start
        while index < len(text):
            character = text[index]
            if self._state == "head":
                done = self._read_head(character)
            elif self._state == "outside":
                done = self._read_outside(character)
            elif self._state == "inside":
                done = self._read_inside(character)
            else:
                done = self._read_behind(character)
            if self.failed:
                return index
            index += 1
            if done:
                return index
        return MORE

    def _read_head(self, character: str) -> bool:
        """Reads up to the tag of the first argument, or of the end."""
        self._head += character
        token = self._outside.add(character)
        if token == self._grammar.end:
            return True
        if token:
            self._state = "inside"
            self._arguments += 1
        elif len(self._head) > _LONGEST_HEAD or not self._may_be_head():
            self.failed = True
        return False

    def _may_be_head(self) -> bool:
        rest = self._head[len(self._begin) :].lstrip()
        for tag in self._grammar.head_tags if self._begin not in self._grammar.head_tags else ():
            if tag.startswith(rest) or rest.startswith(tag):
                return "\n" not in rest.rstrip() or self._outside.maybe or ">" in rest
            return False
        if "<" in rest and not self._outside.maybe:
            return False
        return rest[:1] not in tuple("{[`")

    def _read_outside(self, character: str) -> bool:
        if character.isspace() and not self._outside.maybe:
            return False
        token = self._outside.add(character)
        if token == self._grammar.end:
            return True
        if token or not self._outside.maybe:
            # Text behind an argument's closing tag: the tag was part of the argument.
            self._state = "inside"
        return False

    def _read_inside(self, character: str) -> bool:
        token = self._inside.add(character)
        if token == self._grammar.closes:
            self._state = "outside"
        elif token:
            self._state, self._behind = "behind", ""
        return False

    def _read_behind(self, character: str) -> bool:
        """After an end tag within an argument: it is the end if what follows a call follows."""
        self._behind += character
        if character.isspace() and not self._after.maybe:
            return False
        if self._after.add(character):
            self.unread = self._behind.lstrip()
            return True
        if not self._after.maybe:
            self._state = "inside"
        return False

    def read(self, text: str, *, at_end: bool) -> Calls | None:
        grammar = self._grammar
        whole = self._begin + text.removesuffix(self.unread)
        rest = ""
        if at_end and grammar.end in text:
            before, _, rest = whole.rpartition(grammar.end)
            whole = before + grammar.end
        elif at_end:
            whole = _without_begun(whole, (grammar.opens, grammar.closes, grammar.end))
        head = grammar.head.match(whole)
        name = self._offered.named(head["name"]) if head is not None else None
        if head is None or name is None:
            return None
        found: dict[str, Any] = {}
        closed = True
        for match in grammar.parameter.finditer(whole, head.end()):
            key = grammar.read_key(match["key"])
            value = match["value"]
            if not match["closed"] and value[:1] == "\n" and (value == "\n" or value[-1] != "\n"):
                value += "\n"
            found[key] = read_value(value, self._offered.types(name, key))
            closed = closed and bool(match["closed"])
        if not found and (self._arguments or at_end):
            return None
        repair = None if closed else f"missing {grammar.closes}"
        if at_end and grammar.end not in text:
            repair = f"missing {grammar.end}"
        return Calls([ParsedCall(name, as_json(found), repair)], rest)
