"""JSON as models write it: mends a text that is not valid JSON, where its meaning is clear."""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

_BLANK: Final = " \t\r\n"
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_DECODER: Final = json.JSONDecoder(strict=False)


def repaired_json(text: str) -> str | None:
    """Returns `text` as valid JSON: a value with its control characters escaped, or the one object that it repeats.

    Empty objects before an object are left out. Returns None for any other text, such as one of two different objects.
    """
    values: list[tuple[Any, str]] = []
    position = _skipped(text, 0)
    try:
        while position < len(text):
            value, end = _DECODER.raw_decode(text, position)
            values.append((value, text[position:end]))
            position = _skipped(text, end)
    except (ValueError, RecursionError):
        return None
    while len(values) > 1 and values[0][0] == {}:
        del values[0]
    is_one = len(values) == 1 or (bool(values) and _is_repeated([value for value, _ in values]))
    return escape_controls(values[0][1]) if is_one else None


def escape_controls(text: str) -> str:
    """Returns a JSON text with the control characters in its strings escaped. The last string may be incomplete."""
    return _STRING.sub(lambda string: _CONTROL.sub(_escape, string[0]), text)


def _escape(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"


def _skipped(text: str, position: int) -> int:
    """Returns the position of the next character that is not blank."""
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _is_repeated(values: list[object]) -> bool:
    """Returns whether all are the same object. Python finds 1, 1.0 and true equal; their JSON differs."""
    if not all(isinstance(value, dict) for value in values):
        return False
    return len({json.dumps(cast("dict[str, Any]", value), sort_keys=True) for value in values}) == 1
