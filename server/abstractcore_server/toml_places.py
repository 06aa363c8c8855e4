"""Where a value is in a TOML text, for the line of an error about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADER = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]\]?")
_KEY = re.compile(r"[ \t]*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:[ \t]*\.[ \t]*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)[ \t]*=")
_NAME = re.compile(r"[\w-]+|\"[^\"]*\"|'[^']*'")


def place_of(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Returns the line and column, from 1, of the value at `path`; of a value that has no line of its own, those of the
    table that it is in; 1 and 1 for one that is not found.
    """
    table: list[str] = []
    best, depth = (1, 1), 0
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        key = None if header else _KEY.match(line)
        if header:
            table = _names(header[1])
        found = table if header else [*table, *_names(key[1])] if key else []
        if found and len(found) > depth and list(path[: len(found)]) == found:
            best, depth = (number, len(line) - len(line.lstrip(" \t")) + 1), len(found)
    return best


def _names(dotted: str) -> list[str]:
    return [name.strip("\"'") for name in _NAME.findall(dotted)]
