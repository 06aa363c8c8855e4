"""Bars of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from abstractcore_cli.tracing.bars import ASCII, UNICODE, span_bar, stacked_bar


def test_bar_is_full_for_what_is_known_and_lighter_for_what_is_estimated():
    assert stacked_bar(1, 1, 2, 8) == "████░░░░"
    assert stacked_bar(1, 0, 2, 8) == "████"
    assert stacked_bar(0.7, 0, 1, 10, ASCII) == "#######"
    assert stacked_bar(1, 1, 4, 8, ASCII) == "##.."


def test_small_sums_have_a_mark_and_nothing_has_none():
    assert stacked_bar(0.0001, 0, 1, 10) == "▏"
    assert stacked_bar(1, 0.0001, 1.0001, 10) == "█████████░"
    assert stacked_bar(0, 0, 1, 10) == stacked_bar(1, 0, 1, 0) == stacked_bar(0, 0, 0, 10) == ""


def test_span_begins_where_it_began():
    assert span_bar(0, 4, 4, 8) == "━━━━━━━━"
    assert span_bar(1, 1, 4, 8) == "  ━━"
    assert span_bar(2, 0, 4, 8) == "    ╸"
    assert span_bar(0, 0, 0, 8) == "╸"


amounts = st.floats(0, 1e9)


@given(amounts, amounts, amounts, st.integers(0, 200), st.sampled_from([UNICODE, ASCII]))
def test_bars_are_no_wider_than_their_room(known, estimated, more, width, ink):
    assert len(stacked_bar(known, estimated, known + estimated + more, width, ink)) <= width
    assert len(span_bar(known, estimated, known + estimated + more, width, ink)) <= width
