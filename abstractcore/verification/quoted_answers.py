"""An answer with quotes for its values, as a model writes it, and the paths of values in JSON. Knows no schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..outputs.output_types import WRAPPER_KEY

QUOTES_KEY: Final = "quotes"
_SPACES = " \t\r\n"
PathSteps: TypeAlias = "tuple[str | int, ...]"
"""Keys and indices from the root to a value."""

_LONGEST_PATH = 1000
_STEP = re.compile(r"""\[\s*"((?:[^"\\]|\\.)*)"\s*\]|\[\s*'([^']*)'\s*\]|\[\s*(\d+)\s*\]|([^.\[\]/]+)""")


class Quote(NamedTuple):
    """A quote of the model: for the value at `steps`, from the file with the number `document`, from 1."""

    steps: tuple[str, ...]
    text: str
    document: int | None = None


class QuotedAnswer(NamedTuple):
    """An answer divided: the JSON text of the value, and the quotes."""

    value: str
    quotes: tuple[Quote, ...]


def parse_quoted_answer(text: str) -> QuotedAnswer | None:
    """Returns the parts of an answer; None for a text that is not an object of `value` and `quotes`.

    The value is the model's own text, so that no digit of a number is lost. Quotes of another form are left out.
    """
    try:
        members = _members(text)
        quotes = json.loads(members.get(QUOTES_KEY, "[]"))
    except (ValueError, RecursionError):
        return None
    if WRAPPER_KEY not in members or not members.keys() <= {WRAPPER_KEY, QUOTES_KEY}:
        return None
    return QuotedAnswer(members[WRAPPER_KEY], tuple(_quotes(quotes)))


def _members(text: str) -> dict[str, str]:
    """Returns the members of a JSON object as texts; raises `ValueError` for anything else."""
    decoder = json.JSONDecoder()
    position = _after_spaces(text, 0)
    if text[position : position + 1] != "{":
        raise ValueError("not an object")
    members: dict[str, str] = {}
    position = _after_spaces(text, position + 1)
    while text[position : position + 1] != "}":
        key, position = decoder.raw_decode(text, position)
        position = _after_spaces(text, position)
        if text[position : position + 1] != ":" or not isinstance(key, str):
            raise ValueError("not a member")
        begin = _after_spaces(text, position + 1)
        _, position = decoder.raw_decode(text, begin)
        members[key] = text[begin:position]
        position = _after_spaces(text, position)
        if text[position : position + 1] == ",":
            position = _after_spaces(text, position + 1)
        elif text[position : position + 1] != "}":
            raise ValueError("not the end of an object")
    if text[position + 1 :].strip():
        raise ValueError("more than an object")
    return members


def _after_spaces(text: str, position: int) -> int:
    while text[position : position + 1] in _SPACES and position < len(text):
        position += 1
    return position


def _quotes(data: Any) -> Iterator[Quote]:
    """Yields the quotes of a list of objects with `path` and `quote`, or of data in the shape of the answer."""
    if isinstance(data, list) and any(isinstance(each, Mapping) and "path" in each for each in cast("list[Any]", data)):
        for each in cast("list[Any]", data):
            entry: Mapping[str, Any] = cast("Mapping[str, Any]", each) if isinstance(each, Mapping) else {}
            path, quote, document = (entry.get(key) for key in ("path", "quote", "document"))
            if isinstance(path, str) and isinstance(quote, str):
                yield Quote(parse_path(path), quote, document if type(document) is int else None)
        return
    found = list(scalar_values(data))
    numbers = {steps[:-1]: value for steps, value in found if steps[-1:] == ("document",) and type(value) is int}
    for steps, value in found:
        if isinstance(value, str) and value.strip():
            number = numbers.get(steps[:-1]) if steps[-1:] == ("quote",) else None
            yield Quote(tuple(map(str, steps)), value, number)


def scalar_values(value: Any) -> Iterator[tuple[PathSteps, Any]]:
    """Yields the path and the value of each text, number, bool and null in JSON data, in order."""
    stack: list[tuple[PathSteps, Any]] = [((), value)]
    while stack:
        steps, node = stack.pop()
        if isinstance(node, Mapping):
            entries = cast("Mapping[str, Any]", node).items()
        elif isinstance(node, list | tuple):
            entries = enumerate(cast("Sequence[Any]", node))
        else:
            yield steps, node
            continue
        stack += reversed([((*steps, key), child) for key, child in entries])


def format_path(steps: PathSteps) -> str:
    """Returns a path as code would: `items[0].price`, `prices["1 kg"]`; "value" for the root."""
    pieces: list[str] = []
    for step in steps:
        if isinstance(step, int):
            pieces.append(f"[{step}]")
        elif step.isidentifier():
            pieces.append(f".{step}" if pieces else step)
        else:
            pieces.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(pieces) or "value"


def parse_path(path: str) -> tuple[str, ...]:
    """Returns the steps of a path that a model wrote, as texts: in code, as a JSON pointer, with dots and numbers."""
    steps: list[str] = []
    for quoted, single, index, name in _STEP.findall(path[:_LONGEST_PATH]):
        step = (_unescape(quoted) if quoted else single) or index or name.strip()
        if step and not (step == "$" and not steps):
            steps.append(step)
    return tuple(steps)


def _unescape(text: str) -> str:
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return text
