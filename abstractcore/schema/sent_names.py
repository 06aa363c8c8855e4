"""`SentNames`: names that a request has in place of those that its provider refuses.

Replaces names of properties in a JSON text, whole or as it arrives, and leaves everything else as it is.
`ReplyReading`: how the text of a reply is read as tool calls or a typed answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .json_values import EMPTY, freeze_object
from .reprs import Immutable
from .tools import ToolSpec


@dataclass(frozen=True, slots=True)
class SentNames(Immutable):
    """The names that a request has in place of a call's own, each with the call's own name.

    `tools` has names of tools. `arguments` has, by the name of a tool in the request, names of properties of its
    arguments, and `output` those of the typed answer.
    """

    tools: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    arguments: Mapping[str, Mapping[str, str]] = EMPTY  # pyright: ignore[reportAssignmentType]
    output: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        for name in ("tools", "arguments", "output"):
            object.__setattr__(self, name, freeze_object(getattr(self, name), name))


_TOKEN = re.compile(r'["{}\[\],:]')
_REST_OF_TEXT = re.compile(r'(?:[^"\\]|\\.)*', re.DOTALL)
_LONGEST_ESCAPE = 12
"""Characters of a text in JSON for one of its own: two escaped surrogates."""


def with_property_names(text: str, names: Mapping[str, str]) -> str:
    """Returns the JSON text `text` with each property that `names` has under its other name."""
    replacer = PropertyNameReplacer(names)
    return replacer.feed(text) + replacer.finish()


class PropertyNameReplacer:
    """Replaces names in one JSON text, which arrives in pieces of any size. Only the beginning of a name is held back.

    A text that is not JSON passes as well as it can: nothing is lost.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._longest = max(map(len, names), default=0) * _LONGEST_ESCAPE + len('""')
        self._held = ""
        self._within: list[str] = []
        self._at_name = False
        self._in_text = False

    def feed(self, piece: str) -> str:
        """Returns the part of the text that is certain so far."""
        text, self._held = self._held + piece, ""
        written: list[str] = []
        position = 0
        while position < len(text):
            step = self._rest_of_text if self._in_text else self._name if self._begins_name(text, position) else None
            position = step(text, position, written) if step else self._next_token(text, position, written)
        return "".join(written)

    def finish(self) -> str:
        """Returns the text that was held back, at its end. The text may go on after it."""
        held, self._held = self._held, ""
        if held.startswith('"'):
            self._at_name, self._in_text = False, True
        return held

    def _begins_name(self, text: str, position: int) -> bool:
        return self._at_name and text[position] == '"'

    def _next_token(self, text: str, position: int, written: list[str]) -> int:
        """Passes on the text up to the next token, and the token unless it begins a name."""
        found = _TOKEN.search(text, position)
        end = len(text) if found is None else found.end()
        if found is not None:
            token = found[0]
            if token == '"' and self._at_name:
                end -= 1
            elif token == '"':
                self._in_text = True
            elif token in "{[":
                self._within.append(token)
            elif token in "}]" and self._within:
                self._within.pop()
            if token != '"':
                self._at_name = token in "{," and self._within[-1:] == ["{"]
        written.append(text[position:end])
        return end

    def _rest_of_text(self, text: str, position: int, written: list[str]) -> int:
        """Passes on a text up to its closing quote. A backslash at the end waits for what it escapes."""
        found = _REST_OF_TEXT.match(text, position)
        end = position if found is None else found.end()
        if text[end : end + 1] == '"':
            end += 1
            self._in_text = False
        elif end < len(text):
            self._held = text[end:]
        written.append(text[position:end])
        return end + len(self._held)

    def _name(self, text: str, position: int, written: list[str]) -> int:
        """Passes on a whole name, or another one in its place. One that is longer than all of them is a mere text."""
        found = _REST_OF_TEXT.match(text, position + 1)
        end = position if found is None else found.end()
        if text[end : end + 1] == '"':
            written.append(self._replace_name(text[position : end + 1]))
            self._at_name = False
            return end + 1
        if len(text) - position > self._longest:
            written.append('"')
            self._at_name, self._in_text = False, True
            return position + 1
        self._held = text[position:]
        return len(text)

    def _replace_name(self, quoted: str) -> str:
        try:
            name = self._names.get(json.loads(quoted, strict=False))
        except ValueError:
            return quoted
        return quoted if name is None else json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ReplyReading(Immutable):
    """How the text of a reply is read, where tools or a typed answer are not the provider's own.

    `tools` are written into the prompt in `tool_format`; with `rescue`, a reply that is nothing but calls of them is
    read as such in any format. `output_tool` is the tool whose arguments are the answer. With `single`, calls in the
    text after the first are left out.
    """

    tool_format: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    rescue: bool = False
    output_tool: str | None = None
    single: bool = False
