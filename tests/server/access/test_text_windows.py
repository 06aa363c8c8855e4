"""A text of a stream is seen as a whole by a guard, whatever its pieces; no more of it is held back than allowed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.ports import Edit, TextPiece
from abstractcore_server.access.content_guards import GuardFailure, TextWindow, checked_edits

WORD = re.compile(r"\bab{1,4}\b")
LONGEST = 5
ANYTHING: Any = None


def edits_of(piece: TextPiece, pattern: re.Pattern[str] = WORD) -> list[Edit]:
    return [Edit(*match.span(), "<>") for match in pattern.finditer(piece.text)]


def released(pieces: list[str], hold_back: int, pattern: re.Pattern[str] = WORD) -> str:
    window, out = TextWindow("text", hold_back), ""
    for piece in pieces:
        window.feed(piece)
        out += window.release(edits_of(window.piece(is_last=False), pattern), is_last=False)
        assert window.fed - window.released <= hold_back
    return out + window.release(edits_of(window.piece(is_last=True), pattern), is_last=True)


@given(st.lists(st.text("ab -", max_size=8), max_size=12), st.integers(LONGEST, 12))
def test_pieces_are_changed_as_the_whole_text_is(pieces: list[str], hold_back: int):
    assert released(pieces, hold_back) == WORD.sub("<>", "".join(pieces))


@given(st.lists(st.text("ab -", max_size=8), max_size=12), st.integers(0, 12))
def test_text_without_edits_is_the_same(pieces: list[str], hold_back: int):
    assert released(pieces, hold_back, re.compile("x")) == "".join(pieces)


def test_match_that_is_longer_than_what_is_held_back_is_replaced_once():
    pieces = ["an a", "bb", "bbb", "bbb", "b ab"]
    assert released(pieces, 4, re.compile("ab+")) == "an <> <>"


def test_word_that_begins_in_what_was_sent_is_none():
    assert released(["class", "ass"], 4, re.compile(r"\bass")) == "classass"


@pytest.mark.parametrize(
    "verdict",
    [
        "text",
        7,
        ["edit"],
        [Edit(0, 4, "x")],
        [Edit(1, 1, "x")],
        [Edit(-1, 1, "x")],
        [Edit(1, 2, "x"), Edit(0, 1, "x")],
        [Edit(0, 2, "x"), Edit(1, 3, "x")],
        [Edit(0, 1, "\ud800")],
        [Edit(0, 1, ANYTHING)],
        [Edit(True, 2, "x")],
    ],
)
def test_what_is_no_list_of_edits_is_a_failure(verdict: Any):
    with pytest.raises(GuardFailure):
        checked_edits(verdict, TextPiece("abc", "text", is_last=False))
