"""Characters that come in two halves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstractcore_providers.common.reading import PendingSurrogates, has_surrogates, mend
from tests.properties import examples

HIGHS, LOWS = ["\ud800", "\ud83d", "\udbff"], ["\udc00", "\ude00", "\udfff"]
PIECES = st.lists(
    st.text(st.sampled_from([*HIGHS, *LOWS, "a", "\ud7ff", "\ue000", "\U0001f600"]), max_size=3), max_size=6
)


@pytest.mark.parametrize("half", [*HIGHS, *LOWS])
def test_lone_surrogate_is_replaced(half: str):
    assert has_surrogates(half)
    assert mend(f"a{half}b") == "a\ufffdb"


def test_characters_next_to_the_surrogate_range_are_kept():
    assert not has_surrogates("a\ud7ff\ue000\U0001f600")


@pytest.mark.parametrize("high", HIGHS)
@pytest.mark.parametrize("low", LOWS)
def test_surrogate_pair_is_one_character(high: str, low: str):
    character = (high + low).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    assert mend(high + low) == character
    halves = PendingSurrogates()
    assert [halves.mend(0, high), halves.mend(0, low), halves.rest(0)] == ["", character, ""]


@examples(200)
@given(PIECES)
@example(["\ud83d", "", "\ude00"])
@example(["a\ud83d", "b"])
@example(["\ud83d", "\ud83d", "\ude00"])
def test_chunked_text_is_repaired_like_the_whole(pieces: list[str]):
    halves = PendingSurrogates()
    mended = [halves.mend(3, piece) for piece in pieces]
    assert not any(has_surrogates(piece) for piece in mended)
    assert "".join([*mended, halves.rest(3)]) == mend("".join(pieces))
    assert not halves
    assert halves.rest(3) == ""


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([*HIGHS, *LOWS, "a"])), max_size=12))
@example([(0, "\ud83d"), (1, "\ude00"), (0, "\ude00")])
def test_surrogate_half_waits_within_its_own_block(pieces: list[Any]):
    halves = PendingSurrogates()
    read = dict.fromkeys(range(3), "")
    for block, piece in pieces:
        read[block] += halves.mend(block, piece)
    for block in read:
        whole = "".join(piece for number, piece in pieces if number == block)
        assert read[block] + halves.rest(block) == mend(whole)
