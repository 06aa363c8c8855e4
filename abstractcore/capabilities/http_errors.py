"""Errors of HTTP responses by their status, for backends that read none of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .. import errors
from ..errors import ProviderError
from ..schema import WireResponse
from ..schema.wire import response_message

_LONGEST_WAIT_SECONDS = 86400.0
_BY_STATUS: Final[Mapping[int, type[ProviderError]]] = {
    401: errors.AuthenticationError,
    402: errors.QuotaError,
    403: errors.AccessDeniedError,
    404: errors.NotFoundError,
    408: errors.RequestTimeoutError,
    409: errors.OverloadedError,
    425: errors.OverloadedError,
    429: errors.RateLimitError,
    503: errors.OverloadedError,
    504: errors.RequestTimeoutError,
    529: errors.OverloadedError,
}


def error_class(status: int) -> type[ProviderError]:
    """Returns the class of the error for a status other than 2xx."""
    return _BY_STATUS.get(status, errors.BadRequestError if 300 <= status < 500 else errors.ServerError)


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error for a response that is not successful, with what its body says."""
    return error_class(response.status)(response_message(response))


def with_response(error: ProviderError, response: WireResponse) -> ProviderError:
    """Returns `error` with the status and the time to wait, where it lacks them."""
    if error.status is None:
        error.status = response.status
    if error.retry_after is None:
        error.retry_after = _wait(response.headers.get("retry-after", ""))
    return error


def _wait(text: str) -> float | None:
    """Returns the seconds of a Retry-After header; None for a date, and for what is none of them."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_WAIT_SECONDS else None
