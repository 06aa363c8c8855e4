"""Bytes and JSON gone wrong, of any format."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Change = Callable[[bytes], bytes]
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
    places, pieces = st.integers(0, 10_000), st.binary(max_size=3) | st.sampled_from(ODD)
    return st.lists(st.builds(_change, places, st.integers(0, 20), pieces), min_size=1, max_size=4)


def _change(place: int, length: int, piece: bytes) -> Change:
    def change(data: bytes) -> bytes:
        start = place % (len(data) + 1)
        return data[:start] + piece + data[start + length :]

    return change


def changed(data: bytes, steps: Sequence[Change]) -> bytes:
    for step in steps:
        data = step(data)
    return data


def with_others(value: Any, places: Sequence[tuple[int, Any]]) -> Any:
    """The JSON with other values in these places."""
    for place, odd in places:
        trails = list(places_in(value))
        value = with_value(value, trails[place % len(trails)], odd)
    return value


def places_in(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys and indexes that lead to each place in a JSON value, itself included."""
    yield trail
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_in(item, (*trail, key))


def with_value(value: Any, trail: tuple[Any, ...], odd: Any) -> Any:
    if not trail:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[trail[0]] = with_value(value[trail[0]], trail[1:], odd)
    return copy


def with_anything(value: Any) -> Iterator[bytes]:
    """The JSON with something else in each of its places in turn; of a list, in its first two."""
    for trail in places_in(value):
        if not any(isinstance(key, int) and key > 1 for key in trail):
            for odd in ANYTHING:
                yield json.dumps(with_value(value, trail, odd)).encode()
