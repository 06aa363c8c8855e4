"""Errors of formats that tell them by a status and a text, and of our own servers, which add a `code` to that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError

_CALLERS_FAULT = (
    errors.InvalidInputError,
    errors.MediaError,
    errors.UnknownOptionError,
    errors.UnknownProviderError,
    errors.UnsupportedContentError,
    errors.UnsupportedOptionError,
)


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """How an error of one class is told."""

    error: type[ProviderError]
    status: int
    code: str


def rows(**statuses: int) -> tuple[ErrorRow, ...]:
    """A row for every class, with the statuses of its code that are not the usual ones.

    A class of which another is a case stands after it; the last row of a status is what the status means alone.
    """
    return tuple(ErrorRow(error, statuses.get(code, status), code) for error, status, code in _USUAL)


_USUAL: tuple[tuple[type[ProviderError], int, str], ...] = (
    (errors.ContextOverflowError, 400, "context_length_exceeded"),
    (errors.ContentFilterError, 400, "content_filter"),
    (errors.BadRequestError, 400, "bad_request"),
    (errors.AuthenticationError, 401, "unauthorized"),
    (errors.QuotaError, 402, "quota_exceeded"),
    (errors.AccessDeniedError, 403, "forbidden"),
    (errors.ModelNotFoundError, 404, "model_not_found"),
    (errors.NotFoundError, 404, "not_found"),
    (errors.RequestTimeoutError, 408, "timeout"),
    (errors.RateLimitError, 429, "rate_limited"),
    (errors.OverloadedError, 503, "overloaded"),
    (errors.ServerError, 500, "server_error"),
)
_NO_CAPACITY = 529
"""A status of Anthropic's that others have taken up, and HTTP does not know."""


def class_of(status: int | None, known: Sequence[ErrorRow]) -> type[ProviderError]:
    """What a status means without more."""
    if status == _NO_CAPACITY:
        return errors.OverloadedError
    for row in reversed(known):
        if row.status == status:
            return row.error
    return errors.BadRequestError if status is not None and 300 <= status < 500 else errors.ServerError


def row_of(error: AbstractCoreError, known: Sequence[ErrorRow]) -> ErrorRow:
    """How `error` is told: as the client's fault, by its own class, or as a failure of the server."""
    told = errors.BadRequestError("") if isinstance(error, _CALLERS_FAULT) else error
    return next((row for row in known if isinstance(told, row.error)), known[-1])
