"""What an HTTP status means where nothing else is known, in every format alike, and how our own servers report errors.

A format's vendor may say more: by a code or a type in the body, in words, or with a status of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse
from abstractcore.schema.quoting import shown

from .retry_waits import read_wait

_LONGEST_QUOTE = 400

BY_STATUS: Mapping[int, type[ProviderError]] = {
    400: errors.BadRequestError,
    401: errors.AuthenticationError,
    402: errors.QuotaError,
    403: errors.AccessDeniedError,
    404: errors.NotFoundError,
    408: errors.RequestTimeoutError,
    409: errors.OverloadedError,
    424: errors.ServerError,
    429: errors.RateLimitError,
    499: errors.ServerError,
    503: errors.OverloadedError,
    504: errors.RequestTimeoutError,
    529: errors.OverloadedError,
}
"""Statuses that mean something else than their neighbours. 409 is a lock that was not free (OpenAI's and Anthropic's
clients, and Cohere's, try again), 424 a model that failed (Amazon, text-generation-inference), 499 a proxy that gave up
waiting, 529 Anthropic's for no capacity, which others have taken up.
"""

CALLERS_FAULT = (
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

    A class of which another is a case stands after it.
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


def class_of(status: int | None) -> type[ProviderError]:
    """What a status means without more; that of an error in a successful response is None."""
    known = BY_STATUS.get(status or 0)
    if known is not None:
        return known
    return errors.BadRequestError if status is not None and 300 <= status < 500 else errors.ServerError


def status_message(response: WireResponse, who: str = "provider") -> str:
    """The message where a body has none: the status, and the body's beginning if it is plain text, as from a proxy."""
    message = f"the {who} answered with status {response.status}"
    text = response.body[:_LONGEST_QUOTE].decode(errors="replace").strip()
    is_plain = response.headers.get("content-type", "").lower().startswith("text/plain")
    return f"{message}: {shown(text)}" if is_plain and text else message


def complete(error: ProviderError, response: WireResponse) -> ProviderError:
    """`error` with what its response says beside the body: how long to wait, and that the address redirects."""
    if 300 <= response.status < 400:
        error.hint = "The address redirects, and no key follows: give the final one as base_url."
    if error.retry_after is None:
        error.retry_after = read_wait(response.headers)
    return error


def row_of(error: AbstractCoreError, known: Sequence[ErrorRow]) -> ErrorRow:
    """How `error` is told: as the client's fault, by its own class, or as a failure of the server."""
    told = errors.BadRequestError("") if isinstance(error, CALLERS_FAULT) else error
    return next((row for row in known if isinstance(told, row.error)), known[-1])
