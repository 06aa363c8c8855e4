"""Arguments of tool calls in JSON bodies, inserted and extracted as the original text.

A parsed object has the values of the arguments but not how the model wrote them (`1.10`, the order of keys, spaces), so
the original text could not be restored from it. Therefore the text itself is inserted into a body, and extracted from
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from abstractcore.schema import CallWarning, ToolCall

from .json_reading import Object, mended
from .unread_values import note_unread

_BLANK = " \t\r\n"
HOLE = float("nan")
"""A placeholder in a body for a text that is inserted. No JSON value equals it."""

_DECODER = json.JSONDecoder()


def own_text(call: ToolCall) -> str:
    """Returns the arguments' text if it is that of an object without surrounding whitespace, else their JSON, which is
    that of an empty object for arguments that cannot be read.
    """
    return "{}" if call.arguments_json is None else call.arguments_json


def arguments_text(arguments: Any) -> str:
    """Returns the text of arguments that were received as a value."""
    return to_json(arguments).decode()


def received_arguments(arguments: Any) -> str:
    """Returns the text of a call's arguments that a format sends as a text, and some servers as an object.

    The text of a value of another type is an arguments error of the call.
    """
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else arguments_text(mended(arguments))


def arguments_piece(data: Object, key: str, *, is_first: bool) -> str:
    """Returns the text at `key` of a stream's event, a piece of a call's arguments.

    Some servers send the whole object as the first piece; an empty one is not a piece yet.
    """
    value = data.get(key)
    if isinstance(value, str):
        return value
    if is_first and isinstance(value, dict):
        return received_arguments(value) if value else ""
    if value is not None:
        note_unread(key, "a text", value)
    return received_arguments(value)


def sent_text(call: ToolCall, path: str, warnings: list[CallWarning], *, one_line: bool = False) -> str:
    """Returns the text that is sent for the arguments of the call at `path`, with a warning if it differs from the
    original.

    With `one_line`, as in a format whose streams consist of lines, it has no line breaks.
    """
    text = own_text(call)
    if one_line and ("\n" in text or "\r" in text):
        text = arguments_text(call.arguments)
    if text != call.arguments_text:
        message = "arguments are sent as a JSON object, without text around it"
        field_path = f"{path}.arguments_text"
        warnings.append(CallWarning("arguments_rewritten", field_path, message, call.arguments_text, text))
    return text


def is_sent_as_written(call: ToolCall) -> bool:
    """Returns whether a format whose arguments are a text sends them as the model wrote them.

    Servers refuse conversations with JSON that is not valid, so text of which only `arguments_json` is valid is not.
    """
    return call.arguments_json is None or call.arguments_text.strip(_BLANK) in ("", call.arguments_json)


def with_valid_text(call: ToolCall, path: str, warnings: list[CallWarning]) -> ToolCall:
    """Returns the call at `path` as a format whose arguments are a text sends it, with a warning if it differs."""
    if is_sent_as_written(call) or call.arguments_json is None:
        return call
    message = "arguments are sent as valid JSON"
    field_path = f"{path}.arguments_text"
    warnings.append(CallWarning("arguments_rewritten", field_path, message, call.arguments_text, call.arguments_json))
    return replace(call, arguments_text=call.arguments_json)


def written_with(body: Any, key: str, texts: Iterable[str]) -> bytes:
    """Returns `body` as JSON, with the JSON texts `texts` in place of the placeholders at `key` in order."""
    following = iter(texts)
    # Quotes within texts are escaped, so this is always a key. A lookbehind at the end is ten times faster.
    hole = re.compile(rf'"{key}":NaN(?<=[{{,]"{key}":NaN)'.encode())
    return hole.sub(lambda _: f'"{key}":{next(following)}'.encode(), to_json(body))


class WrittenArguments:
    """Returns the texts of the objects at `key` anywhere in a JSON body, in order."""

    __slots__ = ("_body", "_key", "_rest")

    def __init__(self, body: bytes, key: str) -> None:
        self._body = body
        self._key = key
        self._rest: Iterator[tuple[Any, str]] | None = None

    def text_of(self, value: Any) -> str:
        """Returns the text of the next object that equals `value`; the text of `value` itself if there is none."""
        if self._rest is None:
            self._rest = _objects(self._body.decode("utf-8-sig", "replace"), self._key)
        found = next((text for other, text in self._rest if other == value), None)
        return arguments_text(value) if found is None else found


def _objects(text: str, key: str) -> Iterator[tuple[Any, str]]:
    begins = re.compile(rf'"{key}"\s*:\s*(?={{)')
    start = 0
    while (match := begins.search(text, start)) is not None:
        start = match.end()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value, text[start:end]
        start = end
