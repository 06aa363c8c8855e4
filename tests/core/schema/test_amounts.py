"""Amounts of money in tables."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema.amounts import dollars


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0"),
        ("0E-12", "$0"),
        ("0.002", "$0.002000"),
        ("0.0000625", "$0.0000625"),
        ("0.0001325", "$0.0001325"),
        ("0.000000000001", "$0.000000000001"),
        ("0.0000000000004", "<$0.000000000001"),
        ("0.0000000000025", "$0.000000000003"),
        ("0.9999999", "$0.9999999"),
        ("1", "$1.00"),
        ("1E+3", "$1,000.00"),
        ("1234.5678", "$1,234.5678"),
        ("9223372036854.775807", "$9,223,372,036,854.775807"),
    ],
)
def test_amounts_are_shown_to_their_last_digit(amount: str, text: str):
    assert dollars(Decimal(amount)) == text


@given(st.lists(st.decimals(min_value=0, max_value=1_000_000, places=12), min_size=1))
def test_shown_amounts_add_up_to_the_shown_sum(amounts: list[Decimal]):
    def read(text: str) -> Decimal:
        return Decimal(text.removeprefix("$").replace(",", ""))

    assert sum(read(dollars(amount)) for amount in amounts) == read(dollars(sum(amounts, Decimal(0))))
