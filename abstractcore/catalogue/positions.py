"""Finds values in JSON and TOML texts, for the line and column of an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_SPACE = re.compile(r"[ \t\r\n]*")
_INDEX = re.compile(r"\[(\d+)\]")
_STEP = re.compile(r"([^.\[]+)((?:\[\d+\])*)\.?")
_decode = json.JSONDecoder().raw_decode


def json_column(text: str, path: str) -> int:
    """Returns the column, from 1, of the member or item at `path` ("thinking.levels[0]") of a valid JSON text.

    For a path that the text does not have, it is the column of the last part that it has.
    """
    return json_place([text], path)[1]


def json_place(texts: Sequence[str], path: str) -> tuple[int, int]:
    """Returns the index and the column, from 1, of the first text that has most of `path`, as `json_column`."""
    found = [_offset(text, _past_space(text, 0), path) for text in texts]
    index = min(range(len(found)), key=lambda index: found[index][1])
    return index, found[index][0] + 1


def _offset(text: str, start: int, path: str) -> tuple[int, int]:
    """Returns the offset of the last part of `path` that the value at `start` has, and the length of the rest."""
    if text[start] == "{":
        for key, key_at, value_at in _members(text, start):
            rest = _after_key(path, key)
            if rest is not None:
                return _offset(text, value_at, rest) if rest else (key_at, 0)
    elif text[start] == "[" and (index := _INDEX.match(path)):
        for number, item_at in enumerate(_items(text, start)):
            if number == int(index[1]):
                rest = path[index.end() :].removeprefix(".")
                return _offset(text, item_at, rest) if rest else (item_at, 0)
    return start, len(path)


def _after_key(path: str, key: str) -> str | None:
    """Returns the rest of the path after `key`; None if it does not begin with it."""
    if not path.startswith(key):
        return None
    rest = path[len(key) :]
    return rest.removeprefix(".") if rest[:1] in ("", ".", "[") else None


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yields each key of the object at `start`, with the offsets of the key and of its value."""
    at = _past_space(text, start + 1)
    while text[at] != "}":
        key, end = _decode(text, at)
        value_at = _past_space(text, _past_space(text, end) + 1)
        yield key, at, value_at
        at = _past_comma(text, _decode(text, value_at)[1])


def _items(text: str, start: int) -> Iterator[int]:
    at = _past_space(text, start + 1)
    while text[at] != "]":
        yield at
        at = _past_comma(text, _decode(text, at)[1])


def _past_comma(text: str, at: int) -> int:
    at = _past_space(text, at)
    return _past_space(text, at + 1) if text[at] == "," else at


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def toml_position(text: str, table: int, path: str) -> tuple[int, int]:
    """Returns the line and column, from 1, of the value at `path` ("prices[1].rates") in the table `[[models]]` with
    the index `table`.

    For a value that is not on a line of its own they are those of the value or the table that it is in, for other
    spellings of the list 1 and 1.
    """
    lines = text.split("\n")  # other separators of lines end none in TOML
    names = ["models"]
    tables = _items_of(lines, range(len(lines)), names)
    if table >= len(tables):
        return 1, 1
    region = tables[table]
    for step in _STEP.finditer(path):
        name, index = step[1], _INDEX.match(step[2])
        items = _items_of(lines, region, [*names, name]) if index else []
        if index and int(index[1]) < len(items):
            region, names = items[int(index[1])], [*names, name]
            continue
        key = next((number for number in region[1:] if _key(names, name).match(lines[number])), None)
        if key is None:
            break
        header = lines[key].lstrip().startswith("[")
        region, names = range(key, region.stop) if header else range(key, key + 1), [*names, name]
    return region.start + 1, len(lines[region.start]) - len(lines[region.start].lstrip(" \t")) + 1


def _items_of(lines: list[str], within: range, names: list[str]) -> list[range]:
    """Returns the lines of each table of the list `[[names]]`: from its header to the one of the next."""
    header = re.compile(rf"^[ \t]*+\[\[[ \t]*+{_dotted_pattern(names)}[ \t]*+\]\]")
    heads = [number for number in within if header.match(lines[number])]
    return [range(start, end) for start, end in pairwise([*heads, within.stop])]


def _key(names: list[str], name: str) -> re.Pattern[str]:
    """Returns a pattern of the lines that begin the value `name` of a table: `name = `, `name.x =`, `[names.name]`."""
    header = rf"\[{{1,2}}[ \t]*+{_dotted_pattern([*names, name])}[ \t]*+[.\]]"
    return re.compile(rf"^[ \t]*+(?:{_quoted_pattern(name)}[ \t]*+[=.]|{header})")


def _dotted_pattern(names: list[str]) -> str:
    return r"[ \t]*+\.[ \t]*+".join(map(_quoted_pattern, names))


def _quoted_pattern(name: str) -> str:
    return rf"""["']?{re.escape(name)}["']?"""
