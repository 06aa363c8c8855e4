"""What an HTTP status means where nothing else is known, in every format alike.

A vendor may say more: by a code or a type in the body, in words, or with a status of its own (`error_table.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore import errors
from abstractcore.errors import ProviderError
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
