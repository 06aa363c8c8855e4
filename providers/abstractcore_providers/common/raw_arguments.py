"""Arguments of tool calls inside JSON bodies, put in and taken out as the very text that was written.

An object in a body says what the arguments are, not how the model wrote them (`1.10`, the order of keys, spaces), and a
schema that keeps the text could not give it back. So the text itself stands in the body, and is cut out of it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import to_json

from abstractcore.schema import CallWarning, ToolCall

HOLE = float("nan")
"""Stands in a body where a text is put in. No JSON value is this, so that nothing else is taken for it."""

_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


def own_text(call: ToolCall) -> str:
    """The arguments' own text where it is that of an object, without space around it, else that of an empty object."""
    if call.arguments is None or not call.arguments_text.strip():
        return "{}"
    return call.arguments_text.strip(_BLANK)


def arguments_text(arguments: Any) -> str:
    """The text of arguments that came as a value."""
    return to_json(arguments).decode()


def sent_text(call: ToolCall, path: str, warnings: list[CallWarning], *, one_line: bool = False) -> str:
    """The text that is sent of the arguments of the call at `path`, with a warning if it is not their own.

    With `one_line`, as in a format whose streams are lines, it has no line ends.
    """
    text = own_text(call)
    if one_line and ("\n" in text or "\r" in text):
        text = arguments_text(call.arguments)
    if text != call.arguments_text:
        message = "arguments are a JSON object here, with nothing around it"
        place = f"{path}.arguments_text"
        warnings.append(CallWarning("arguments_rewritten", place, message, call.arguments_text, text))
    return text


def written_with(body: Any, key: str, texts: Iterable[str]) -> bytes:
    """`body` as JSON, with the `texts`, each a JSON text, in place of the holes at `key` in order."""
    following = iter(texts)
    # Quotes within texts are escaped: this is a key wherever it stands. Looking behind last is ten times faster.
    hole = re.compile(rf'"{key}":NaN(?<=[{{,]"{key}":NaN)'.encode())
    return hole.sub(lambda _: f'"{key}":{next(following)}'.encode(), to_json(body))


class WrittenArguments:
    """The texts of the objects that stand at `key` somewhere in a JSON body, in the order in which they stand there."""

    __slots__ = ("_body", "_key", "_rest")

    def __init__(self, body: bytes, key: str) -> None:
        self._body = body
        self._key = key
        self._rest: Iterator[tuple[Any, str]] | None = None

    def text_of(self, value: Any) -> str:
        """The text of the next object that is `value`; that of `value` itself if there is none."""
        if self._rest is None:
            self._rest = _objects(self._body.decode("utf-8-sig", "replace"), self._key)
        found = next((text for other, text in self._rest if other == value), None)
        return arguments_text(value) if found is None else found


def _objects(text: str, key: str) -> Iterator[tuple[Any, str]]:
    begins = re.compile(rf'"{key}"\s*:\s*(?={{)')
    place = 0
    while (match := begins.search(text, place)) is not None:
        place = match.end()
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            continue
        yield value, text[place:end]
        place = end
