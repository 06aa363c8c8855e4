"""Errors of vendors: by status, with the message and the code in any of the forms that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from abstractcore import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnexpectedResponseError,
)
from abstractcore.schema import WireResponse, response_message

_BY_STATUS: Final[Mapping[int, type[ProviderError]]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AccessDeniedError,
    404: NotFoundError,
    408: RequestTimeoutError,
    409: OverloadedError,
    425: OverloadedError,
    429: RateLimitError,
    503: OverloadedError,
    504: RequestTimeoutError,
    529: OverloadedError,
}
_QUOTA = re.compile(r"quota|credit|insufficient|payment|billing", re.IGNORECASE)
_BLOCKED = re.compile(r"moderat|content.?(policy|filter)|safety|prohibited", re.IGNORECASE)
_CODES = ("code", "err_code", "error_code", "status", "type", "category")
_LONGEST = 400


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error that a response with another status than 2xx reports."""
    message, code = response_message(response), _code(_parsed(response.body))
    kind = _BY_STATUS.get(response.status, BadRequestError if response.status < 500 else ServerError)
    about = f"{code or ''} {message}"
    if response.status in (400, 401, 403, 429) and _QUOTA.search(about):
        kind = QuotaError
    elif response.status in (400, 403, 422) and _BLOCKED.search(about):
        kind = ContentFilterError
    return kind(message[:_LONGEST], status=response.status, code=code)


def unexpected(content_type: str, start: bytes) -> UnexpectedResponseError:
    """Returns the error for a successful response without sound, such as the page of a proxy."""
    shown = start[:80].decode(errors="replace").strip()
    error = UnexpectedResponseError(f"expected sound, got {content_type or 'no Content-Type'}: {shown}")
    error.content_type = content_type
    return error


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _code(found: Any) -> str | None:
    if not isinstance(found, dict):
        return None
    fields = cast("dict[str, Any]", found)
    own = next((fields[name] for name in _CODES if isinstance(fields.get(name), str)), None)
    return own or next(filter(None, (_code(fields[name]) for name in ("error", "detail") if name in fields)), None)
