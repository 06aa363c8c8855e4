"""Splits of a byte stream, and the cost of splitting."""

from collections.abc import Iterator
from typing import Any


def every_split(stream: bytes) -> Iterator[list[bytes]]:
    """Yields the data whole, split in two everywhere, and byte by byte."""
    yield [stream]
    for place in range(1, len(stream)):
        yield [stream[:place], stream[place:]]
    yield [stream[i : i + 1] for i in range(len(stream))]


def count_copied_bytes(framer: Any, stream: bytes, size: int) -> int:
    """How many bytes `framer` copies: the lengths of all the bytes objects it holds at one time or another."""
    held: dict[int, bytes] = {}
    for start in range(0, len(stream), size):
        framer.feed(stream[start : start + size])
        held |= {id(value): value for value in _bytes_in(framer)}
    return sum(map(len, held.values()))


def _bytes_in(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _bytes_in(item)
    elif isinstance(value, bytearray):
        yield bytes(value)
    else:
        for name in getattr(type(value), "__slots__", ()):
            yield from _bytes_in(getattr(value, name))
