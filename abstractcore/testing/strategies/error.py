"""Hypothesis strategies: errors of providers."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...errors import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from .part import SOME_TEXT

PROVIDER_ERRORS: tuple[type[ProviderError], ...] = (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextOverflowError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
"""The errors that a provider can report in a response."""


def errors() -> SearchStrategy[ProviderError]:
    """Errors of a provider, with and without `retry_after`."""
    waits = st.none() | st.integers(0, 3600).map(float) | st.floats(0, 3600)
    return st.builds(_failure, st.sampled_from(PROVIDER_ERRORS), SOME_TEXT, waits)


def _failure(kind: type[ProviderError], message: str, wait: float | None) -> ProviderError:
    return kind(message, retry_after=wait)
