"""Values that no argument accepts, by name."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

import numpy
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

E = TypeVar("E", bound=Exception)


class Loud:
    """Its every text is an error."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Word(StrEnum):
    """A text that is an enum's."""

    A = "a"


def outcome(action: Callable[[], Any], error: type[E]) -> tuple[Any, E | None]:
    """Returns the result of `action`, or the error it raises; any other error propagates."""
    try:
        return action(), None
    except error as raised:
        return None, raised


def nested(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


DEEP = nested(100_000)


def cycle() -> dict[str, Any]:
    """A dict that holds itself."""
    value: dict[str, Any] = {"a": {}}
    value["a"]["b"] = value
    return value


def junk() -> dict[str, Any]:
    """Made anew for each test, since some can be used up or changed."""
    return {
        "none": None,
        "true": True,
        "minus-one": -1,
        "huge": 10**5000,
        "huge-negative": -(10**5000),
        "just-too-large-for-a-float": 2**1024 - 1,
        "nan": float("nan"),
        "infinity": float("inf"),
        "empty": "",
        "surrogate": "a\ud800",
        "null-character": "a\x00",
        "word": Word.A,
        "bytes": b"\xff",
        "bytearray": bytearray(b"x"),
        "list": [],
        "list-of-none": [None],
        "list-of-text": ["a", "\udfff"],
        "tuple": (1, "a"),
        "mapping": {"a": object()},
        "mapping-of-none": {"a": None},
        "keys": {1: 2, None: 3},
        "surrogate-key": {"\ud800": 1},
        "set": {1},
        "generator": (item for item in ("a", "b")),
        "cycle": cycle(),
        "list-of-cycle": [cycle()],
        "deep": DEEP,
        "mapping-of-deep": {"a": DEEP},
        "complex": 1j,
        "class": int,
        "function": len,
        "object": object(),
        "loud": Loud(),
    }


def junk_and_arrays() -> dict[str, Any]:
    """As `junk`, with an array of numbers, which is neither equal to anything nor not."""
    return {**junk(), "array": numpy.array([1, 2])}


def values() -> SearchStrategy[Any]:
    """Anything, in lists, tuples and mappings."""
    leaves = st.sampled_from(sorted(junk())).map(lambda name: junk()[name]) | st.integers() | st.floats() | st.text()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3) | st.integers(), inner),
        max_leaves=4,
    )
