"""Hypothesis strategies: warnings of calls."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import CallWarning
from .part import JSON, NAME, TEXT


def call_warnings() -> SearchStrategy[CallWarning]:
    """Warnings."""
    return st.builds(CallWarning, NAME, NAME, TEXT, JSON, JSON)
