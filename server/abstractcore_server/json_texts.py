"""Changes a text in JSON, and nothing else of its bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import jiter

Path: TypeAlias = tuple[str, ...]
"""The keys of objects in one another: `("message", "model")`."""
_DATA = b"data:"
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def with_text(body: bytes, path: Path, text: str | None) -> bytes | None:
    """Returns a JSON object in UTF-8 with another text at `path`, and all else byte for byte; the object as it is if it
    has that text, or for None. Returns None if it has nothing there, and where readers may differ in what they read:
    for objects with a key that stands twice, of which some take the first value, others the last, and for other
    encodings.
    """
    try:
        found: Any = jiter.from_json(body, catch_duplicate_keys=True)
    except ValueError:
        return None
    if text is None:
        return body
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return None
        found = cast("dict[str, Any]", found)[name]
    if found == text:
        return body
    written = body.decode("utf-8")
    start, end = 0, 0
    for name in path:
        start, end = _span_of(name, written, start)
    return f"{written[:start]}{json.dumps(text, ensure_ascii=False)}{written[end:]}".encode()


def with_text_in_lines(lines: bytes, paths: Sequence[Path], text: str) -> bytes:
    """Returns lines of JSON, or of server-sent events, with another text at those of `paths` that an object has."""
    return b"".join(_in_line(line, paths, text) for line in lines.splitlines(keepends=True))


def _in_line(line: bytes, paths: Sequence[Path], text: str) -> bytes:
    for path in paths:
        if f'"{path[-1]}"'.encode() in line:
            prefix = _DATA if line.startswith(_DATA) else b""
            changed = with_text(line[len(prefix) :], path, text)
            line = line if changed is None else prefix + changed
    return line


def _span_of(name: str, text: str, at: int) -> tuple[int, int]:
    """Returns where the value of a key stands, of the object at `at` that has it."""
    at = _after_space(text, _after_space(text, at) + 1)
    while True:
        key, at = _DECODER.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        if key == name:
            return start, end
        at = _after_space(text, _after_space(text, end) + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
