"""Error classes of HTTP statuses, for responses that say no more, the same in all formats.

Vendors may be more specific: by a code or a type in the body, by wording, or by a status of their own
(`error_table.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore import errors
from abstractcore.errors import ProviderError
from abstractcore.schema import WireResponse

from .retry_waits import read_wait

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
"""Statuses that differ from others of their range. 409 is a lock conflict (OpenAI's, Anthropic's and Cohere's clients
retry it), 424 a failure of the model (Amazon, text-generation-inference), 499 a proxy that stopped waiting, 529
overload (Anthropic's, adopted by others).
"""


def class_of(status: int | None) -> type[ProviderError]:
    """Returns the error class of a status; None means an error in a successful response."""
    known = BY_STATUS.get(status or 0)
    if known is not None:
        return known
    return errors.BadRequestError if status is not None and 300 <= status < 500 else errors.ServerError


def complete(error: ProviderError, response: WireResponse) -> ProviderError:
    """Returns `error` with details from outside the body: the time to wait, and whether the URL redirects."""
    if 300 <= response.status < 400:
        error.hint = "The URL redirects, and API keys are not sent to another URL: pass the final one as base_url."
    if error.retry_after is None:
        error.retry_after = read_wait(response.headers)
    return error
