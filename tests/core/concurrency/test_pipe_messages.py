"""Messages between processes: values come back as they were, and a hostile message takes bounded memory."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.concurrency import pipe_messages
from abstractcore.concurrency.pipe_messages import InvalidMessageError, decoded, encoded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_values_come_back_as_they_were(value: Any):
    assert decoded(encoded(value)) == value


def test_tuples_come_back_as_lists_and_nan_as_nan():
    back = decoded(encoded((1, (b"a", "b"), math.nan)))
    assert back[:2] == [1, [b"a", "b"]]
    assert math.isnan(back[2])


@pytest.mark.parametrize("value", [{1}, object()])
def test_other_values_are_refused(value: object):
    with pytest.raises(TypeError):
        encoded([value])


def message(text: bytes, contents: bytes = b"") -> bytes:
    return len(text).to_bytes(8) + text + contents


@pytest.mark.parametrize(
    "text",
    [
        b'{"bytes": -1}',
        b'{"bytes": 2}',
        b'{"other": 1}',
        b"{}",
        b'{"bytes": []}',
    ],
)
def test_invalid_contents_are_refused(text: bytes):
    with pytest.raises(InvalidMessageError):
        decoded(message(text, b"\xff"))


@pytest.mark.parametrize("item", [b"[]", b'{"bytes":0}', b"[1]", b"1.5", b'"\xc3\xa9"', b'[[[""]]]'])
def test_what_is_parsed_takes_less_than_the_limit_of_json_times_32(item: bytes, monkeypatch: pytest.MonkeyPatch):
    most = 1 << 18
    monkeypatch.setattr(pipe_messages, "_MAX_JSON", most)
    count = most // (len(item) + 1) - 1
    hostile = message(b"[" + b",".join([item] * count) + b"]")
    tracemalloc.start()
    try:
        assert len(decoded(hostile)) == count
        assert tracemalloc.get_traced_memory()[1] < 32 * most
    finally:
        tracemalloc.stop()
    with pytest.raises(InvalidMessageError, match=r"bytes of JSON, above the limit of 262,144"):
        decoded(message(b"[" + b",".join([item] * (count + 2)) + b"]" + b" " * 9))
