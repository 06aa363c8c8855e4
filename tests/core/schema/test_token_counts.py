"""Tokens that were counted, and those of a text as an estimate."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import TokenCount
from abstractcore.schema.token_counts import size_tokens, text_tokens
from tests.properties import examples


def test_count_is_an_integer_that_says_whether_it_was_estimated():
    counted, estimated = TokenCount(12), TokenCount(12, estimated=True)
    assert counted == estimated == 12
    assert (counted.estimated, estimated.estimated) == (False, True)
    assert (repr(counted), repr(estimated)) == ("TokenCount(12)", "TokenCount(12, estimated=True)")
    assert f"{estimated} {estimated:,}" == "12 12"
    for copied in (copy.deepcopy(estimated), pickle.loads(pickle.dumps(estimated))):
        assert (copied, copied.estimated) == (12, True)


@examples(50)
@given(st.text(), st.text())
def test_longer_text_never_has_fewer_tokens(one: str, other: str):
    assert text_tokens(one + other) >= max(text_tokens(one), text_tokens(other))
    assert text_tokens(one + other) <= text_tokens(one) + text_tokens(other)
    assert bool(text_tokens(one)) == bool(one)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00", "\U0010ffff"])
def test_every_text_has_tokens(text: str):
    assert text_tokens(text) > 0


def test_text_of_which_the_size_is_known_counts_as_letters():
    assert size_tokens(1000) == text_tokens("a" * 1000)
    assert size_tokens(0) == 0
