"""The growing output of a stream: its JSON data so far, and the items of a list as each is complete."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

from pydantic_core import from_json

from ..errors import OutputValidationError
from ..schema import ModelReply, ReplyStart, StreamEvent, TextDelta, TextStart
from ..schema.json_values import escape_controls
from .output_types import WRAPPER_KEY, OutputType

_BRACKET: Final = re.compile(r"[{\[]")
_LIST: Final = re.compile(rf'\{{\s*"{WRAPPER_KEY}"\s*:\s*\[|(?:\A\s*|(?<!\s)\s*\n[^\S\n]*)\[')
_LONGEST_BEGINNING: Final = 200
"""Characters in which the beginning of a list is found, spaces included; the items of others come at the end."""
_MARKS: Final = re.compile(r'["\\{}\[\],]')


class PartialOutput:
    """Follows the deltas that the reader of a stream has seen. The text of a further attempt replaces that before."""

    def __init__(self, output: OutputType) -> None:
        self._is_wrapped = output.is_wrapped
        self._batch: Sequence[StreamEvent] = ()
        self._next = 0
        self._pieces: list[str] = []
        self._text = ""
        self._value: Any = None
        self.attempts = 0

    def next_batch(self, batch: Sequence[StreamEvent]) -> None:
        """Takes the next deltas; those before them have been read."""
        self.mark_read(len(self._batch))
        self._batch = batch
        self._next = 0

    def mark_read(self, count: int) -> None:
        """Notes that `count` of the current deltas have been read."""
        for event in self._batch[self._next : count]:
            if begins_attempt(event):
                self._pieces, self._text, self._value = [], "", None
            if isinstance(event, TextDelta):
                self._pieces.append(event.text)
        self._next = count

    @property
    def value(self) -> Any:
        """The JSON data so far; None while there is none. Not validated."""
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
            self._value = self._read()
        return self._value

    def _read(self) -> Any:
        found = _BRACKET.search(self._text)
        text = self._text if found is None else self._text[found.start() :]
        try:
            try:
                data = from_json(text, allow_partial="trailing-strings")
            except ValueError:
                data = from_json(escape_controls(text), allow_partial="trailing-strings")
        except ValueError:
            return self._value
        if not self._is_wrapped or not isinstance(data, dict):
            return data
        fields = cast("dict[str, Any]", data)
        return fields.get(WRAPPER_KEY) if not fields or WRAPPER_KEY in fields else fields


def begins_attempt(event: StreamEvent) -> bool:
    """Returns whether a reply begins: that of the first round, of a further one, or of a correction."""
    return isinstance(event, ReplyStart | TextStart | TextDelta) and event.sequence == 0


class Elements:
    """The items of the list that a stream answers with, each validated once it is complete."""

    def __init__(self, output: OutputType) -> None:
        output.check_is_list()
        self._output = output
        self._scanner = ItemScanner()
        self.count = 0
        self.failure: OutputValidationError | None = None

    def feed(self, event: StreamEvent, partial: Callable[[], ModelReply]) -> Iterator[Any]:
        """Yields the items that an event completes; raises `OutputValidationError`, with the reply so far."""
        if begins_attempt(event):
            self._scanner = ItemScanner()
        if isinstance(event, TextDelta):
            for text in self._scanner.feed(event.text):
                item = self._output.read_item(self.count, text, partial)
                self.count += 1
                yield item

    def rest(self, output: Any) -> list[Any]:
        """Returns the items of the whole output that have not been yielded: of an answer in a form not foreseen."""
        return [] if output is None else list(output)[self.count :]


class ItemScanner:
    """Finds the items of the first JSON array of a text, in time linear in its length. Nothing is parsed."""

    def __init__(self) -> None:
        self._text = ""
        self._begun = False
        self._ended = False
        self._position = 0
        self._depth = 0
        self._in_string = False
        self._escaped = -1

    def feed(self, text: str) -> list[str]:
        """Returns the JSON of the items that `text` completes."""
        if self._ended:
            return []
        self._text += text
        if not self._begun and not self._begin():
            return []
        items: list[str] = []
        start = 0
        for mark in _MARKS.finditer(self._text, self._position):
            if self._ends_item(mark[0], mark.start()):
                items.append(self._text[start : mark.start()].strip())
                start = mark.end()
                if self._ended:
                    break
        self._position = len(self._text) - start
        self._escaped -= start
        self._text = self._text[start:]
        return [item for item in items if item]

    def _begin(self) -> bool:
        found = _LIST.search(self._text)
        if found is None:
            kept = self._text[-_LONGEST_BEGINNING:]
            # What is cut off must not make a bracket the first character, which would begin a list.
            self._text = kept if len(kept) == len(self._text) else f".{kept}"
            return False
        self._text = self._text[found.end() :]
        self._begun = True
        return True

    def _ends_item(self, mark: str, position: int) -> bool:
        """Takes the next mark; returns whether an item ends before it."""
        if self._in_string:
            if position == self._escaped:
                return False
            if mark == "\\":
                self._escaped = position + 1
            self._in_string = mark != '"'
        elif mark == '"':
            self._in_string = True
        elif mark in "{[":
            self._depth += 1
        elif mark in "}]":
            self._ended = self._depth == 0
            self._depth -= 1
            return self._ended
        else:
            return mark == "," and self._depth == 0
        return False
