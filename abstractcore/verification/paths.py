"""Paths of the values in a JSON document: enumerated, written and read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

Steps: TypeAlias = "tuple[str | int, ...]"
"""Keys and indices from the root to a value."""

_LONGEST_PATH = 1000
_STEP = re.compile(r"""\[\s*"((?:[^"\\]|\\.)*)"\s*\]|\[\s*'([^']*)'\s*\]|\[\s*(\d+)\s*\]|([^.\[\]/]+)""")


def leaves(value: Any) -> Iterator[tuple[Steps, Any]]:
    """Yields the path and the value of each text, number, bool and null in JSON data, in order."""
    stack: list[tuple[Steps, Any]] = [((), value)]
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


def written(steps: Steps) -> str:
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


def read(path: str) -> tuple[str, ...]:
    """Returns the steps of a path that a model wrote, as texts: in code, as a JSON pointer, with dots and numbers."""
    steps: list[str] = []
    for quoted, single, index, name in _STEP.findall(path[:_LONGEST_PATH]):
        step = (_unescaped(quoted) if quoted else single) or index or name.strip()
        if step and not (step == "$" and not steps):
            steps.append(step)
    return tuple(steps)


def _unescaped(text: str) -> str:
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return text
