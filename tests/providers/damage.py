"""Mutations of bytes and JSON, for any format."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Change = Callable[[bytes], bytes]
Trail = tuple[Any, ...]
ODD = [
    b"null",
    b"{}",
    b"[]",
    b"[[",
    b'"',
    b"\\ud800",
    b"\xff",
    b"NaN",
    b"1e999",
    b"-1",
    b"9" * 5000,
    b"[" * 300,
    b"\n\n",
    b"\r",
    b"",
]
ANYTHING = [None, -1, 10**400, "x", [{}], {"x": []}]


def changes() -> SearchStrategy[list[Change]]:
    """Bytes replaced, left out, or put in."""
    offsets, pieces = st.integers(0, 10_000), st.binary(max_size=3) | st.sampled_from(ODD)
    return st.lists(st.builds(_change, offsets, st.integers(0, 20), pieces), min_size=1, max_size=4)


def _change(offset: int, length: int, piece: bytes) -> Change:
    def change(data: bytes) -> bytes:
        start = offset % (len(data) + 1)
        return data[:start] + piece + data[start + length :]

    return change


def changed(data: bytes, steps: Sequence[Change]) -> bytes:
    for step in steps:
        data = step(data)
    return data


def with_others(value: Any, numbered: Sequence[tuple[int, Any]]) -> Any:
    """The JSON with other values at these paths, given by number."""
    for number, odd in numbered:
        trails = list(paths_in(value))
        value = with_value(value, trails[number % len(trails)], odd)
    return value


def paths_in(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the keys and indexes of each value in a JSON value, itself included."""
    yield trail
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_in(item, (*trail, key))


def value_at(value: Any, trail: Trail) -> Any:
    for key in trail:
        value = value[key]
    return value


def with_value(value: Any, trail: tuple[Any, ...], odd: Any) -> Any:
    if not trail:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[trail[0]] = with_value(value[trail[0]], trail[1:], odd)
    return copy


def with_anything(value: Any) -> Iterator[bytes]:
    """The JSON with something else at each of its paths in turn; of a list, at its first two items."""
    for trail in paths_in(value):
        if not any(isinstance(key, int) and key > 1 for key in trail):
            for odd in ANYTHING:
                yield json.dumps(with_value(value, trail, odd)).encode()


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


JUNK = [
    *(None, True, False, 0, -1, 1.5, 1e308, 10**400),
    *("", "x", "\ud800"),
    *([], [None], [[]], {}, {"x": []}, {"": None}),
    nested(250),
]


def distinct_paths(value: Any, seen: set[Any]) -> Iterator[Trail]:
    """Yields the paths of values whose path, type and neighbours have not been `seen` before."""
    for trail in paths_in(value):
        parent, here = value_at(value, trail[:-1]) if trail else None, value_at(value, trail)
        path = tuple(key if isinstance(key, str) else 0 for key in trail)
        words = [parent.get(name) for name in ("type", "role")] if isinstance(parent, dict) else []
        names = tuple(sorted(parent)) if isinstance(parent, dict) else None
        sign = (path, type(here), names, *(word for word in words if isinstance(word, str)))
        if sign not in seen:
            seen.add(sign)
            yield trail


def with_junk(values: Iterable[Any]) -> Iterator[tuple[Trail, Any, bytes]]:
    """Yields the JSON values with junk at every path in turn: the path, the junk, the bytes."""
    seen: set[Any] = set()
    for value in values:
        for trail in distinct_paths(value, seen):
            for junk in JUNK:
                yield trail, junk, json.dumps(with_value(value, trail, junk)).encode()
