"""Hypothesis strategies: token counts, and what is reported about prices."""

from __future__ import annotations

from decimal import Decimal
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import METERS, Billing, CostSource, SeparateUsage, Usage
from .part import NAME, tuples

COST_SOURCES: tuple[CostSource, ...] = get_args(CostSource)


def dollars() -> SearchStrategy[Decimal]:
    """Costs, in millionths of a dollar."""
    return st.integers(0, 10**9).map(lambda number: Decimal(number).scaleb(-6))


def billings() -> SearchStrategy[Billing]:
    """What responses report about their price."""
    word = st.none() | NAME
    counts = st.dictionaries(st.sampled_from(sorted(METERS)), st.integers(0, 10**9), max_size=3)
    count = st.none() | st.integers(0, 10**9)
    separate = st.builds(SeparateUsage, word, count, count, count, count, counts)
    return st.builds(Billing, st.none() | dollars(), word, word, counts, tuples(separate, 2))


def usages() -> SearchStrategy[Usage]:
    """Token counts, some not reported."""
    count = st.none() | st.integers(0, 10**9)
    return st.builds(Usage, count, count, count, count, count, count, count, st.none() | billings())
