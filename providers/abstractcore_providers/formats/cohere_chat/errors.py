"""Cohere's errors, read and rendered.

Sources: https://docs.cohere.com/reference/errors, and the statuses of https://docs.cohere.com/reference/chat. The
vendor's errors have a status and a text; those of AbstractCore's server also have a `code`.
"""

from __future__ import annotations

import re

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_table import (
    CHECK_MODEL,
    SHORTEN,
    ErrorPattern,
    ErrorTable,
    ReportedError,
    body_reports_error,
    failure,
    own_rows,
    read_failure,
    reported_in,
)
from ...common.reading import Object, as_object, mend, text_of

RIGHT_ADDRESS = "Does base_url point to the API, including /v2?"
"""The hint where something other than the API answers."""
FAILED = {"ERROR": None, "TIMEOUT": "timeout"}
"""Finish reasons of answers that are errors, each with its code."""
_DENIED_TOKEN = 498
"""The vendor's own status for a deny-listed token in request or answer."""
_MISSING_MODEL = re.compile(r"model .{1,200}?not found|could not find model|unknown model", re.IGNORECASE)
_QUOTA = re.compile(r"limited to [\d,]{1,12} API calls ?/ ?month|billing|maximum monthly", re.IGNORECASE | re.ASCII)
_TABLE = ErrorTable(
    own_rows(content_filter=_DENIED_TOKEN, timeout=504),
    statuses={_DENIED_TOKEN: errors.ContentFilterError},
    narrower=(
        ErrorPattern(
            re.compile(r"too many tokens: (?!max tokens)"),
            errors.ContextOverflowError,
            (errors.BadRequestError, errors.ServerError),
        ),
        ErrorPattern(_MISSING_MODEL, errors.ModelNotFoundError, (errors.NotFoundError, errors.BadRequestError)),
        ErrorPattern(_QUOTA, errors.QuotaError, (errors.RateLimitError,)),
    ),
    counts=(re.compile(r"cannot exceed (?P<context>\d{1,12}) - received (?P<prompt>\d{1,12})", re.ASCII),),
    hints={
        errors.AuthenticationError: "Check the API key: api_key=..., or CO_API_KEY.",
        errors.QuotaError: "Check the key's plan and billing at dashboard.cohere.com.",
        errors.ModelNotFoundError: CHECK_MODEL,
        errors.ContextOverflowError: SHORTEN,
    },
)


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    data, headers = as_object(read_failure(response)), response.headers
    request_id = headers.get("x-request-id") or headers.get("x-debug-trace-id") or text_of(data, "id")
    return _TABLE.of_response(_reported(data), response, request_id)


def error_in_answer(data: Object) -> ProviderError:
    """Returns the error that a successful response, or an event of its stream, contains."""
    return _TABLE.in_answer(_reported(data))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    failed = text_of(data, "finish_reason") in FAILED
    return error_in_answer(data) if failed or body_reports_error(data) else None


def _reported(data: Object) -> ReportedError:
    reported = reported_in(data)
    return reported._replace(code=reported.code or FAILED.get(text_of(data, "finish_reason") or ""))


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    return failure(row.status, {"message": mend(error.message), "code": row.code}, error)
