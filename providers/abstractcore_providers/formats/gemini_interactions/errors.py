"""Errors of the Interactions API, read and rendered.

Source: https://ai.google.dev/gemini-api/docs/api-errors. The code is a text, unlike that of Google's other APIs, whose
errors a gateway may send.
"""

from __future__ import annotations

import re

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse

from ...common import google_errors
from ...common.error_table import (
    CHECK_KEY,
    CHECK_MODEL,
    SHORTEN,
    ErrorPattern,
    ErrorRow,
    ErrorTable,
    ReportedError,
    body_reports_error,
    failure,
    read_failure,
    reported_in,
)
from ...common.reading import Object, as_object, as_objects, count_of, mend, text_of

RIGHT_ADDRESS = google_errors.RIGHT_ADDRESS
_TABLE = ErrorTable(
    # The types are the vendor's codes. It has no codes for those of AbstractCore, which are only rendered.
    (
        ErrorRow(errors.ContextOverflowError, 400, "invalid_request", "context_length_exceeded"),
        ErrorRow(errors.ContentFilterError, 400, "invalid_request", "content_filter"),
        ErrorRow(errors.ModelNotFoundError, 404, "model_not_found"),
        ErrorRow(errors.QuotaError, 429, "quota_exceeded"),
        ErrorRow(errors.AuthenticationError, 401, "authentication"),
        ErrorRow(errors.AccessDeniedError, 403, "permission_denied"),
        ErrorRow(errors.NotFoundError, 404, "not_found"),
        ErrorRow(errors.RequestTimeoutError, 504, "gateway_timeout"),
        ErrorRow(errors.RateLimitError, 429, "rate_limit_exceeded"),
        ErrorRow(errors.OverloadedError, 503, "service_unavailable"),
        ErrorRow(errors.ServerError, 500, "internal_error"),
        ErrorRow(errors.BadRequestError, 400, "invalid_request"),
    ),
    types={
        "failed_precondition": errors.AccessDeniedError,
        "out_of_range": errors.BadRequestError,
        "parameter_unknown": errors.BadRequestError,
        "payment_required": errors.QuotaError,
    },
    narrower=(
        ErrorPattern(google_errors.MODEL_NAMED, errors.ModelNotFoundError, (errors.NotFoundError,)),
        ErrorPattern(google_errors.OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError,)),
        ErrorPattern(re.compile(r"API key not valid"), errors.AuthenticationError, (errors.BadRequestError,)),
    ),
    counts=(google_errors.OVERFLOW,),
    hints={
        errors.AuthenticationError: CHECK_KEY,
        errors.QuotaError: "Check the project's plan and billing.",
        errors.ModelNotFoundError: CHECK_MODEL,
        errors.ContextOverflowError: SHORTEN,
    },
)
_RPC_CODES = {
    1: "CANCELLED",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    7: "PERMISSION_DENIED",
    8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION",
    10: "ABORTED",
    11: "OUT_OF_RANGE",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
    16: "UNAUTHENTICATED",
}
"""The codes of google/rpc/code.proto, which the error of a step has as a number."""


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    data = google_errors.first_object(read_failure(response))
    if _is_rpc(as_object(data.get("error"))):
        return google_errors.error_of(response)
    headers = response.headers
    request_id = headers.get("x-goog-request-id") or headers.get("x-request-id")
    return _TABLE.of_response(_reported(data), response, request_id)


def error_in_answer(data: Object) -> ProviderError:
    """Returns the error that a successful response, or an event of its stream, contains."""
    if _is_rpc(as_object(data.get("error"))):
        return google_errors.error_in_answer(data)
    return _TABLE.in_answer(_reported(data))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    return error_in_answer(data) if body_reports_error(data) else None


def error_of_failed(interaction: Object, step_error: Object) -> ProviderError:
    """Returns the error of an interaction that failed; `step_error` is that of its last step, or empty."""
    first = next(iter(as_objects(interaction.get("errors"))), None)
    if first is not None or not step_error:
        return error_in_answer({"error": first or as_object(interaction.get("error"))})
    status = _RPC_CODES.get(count_of(step_error, "code") or 0)
    return google_errors.error_in_answer({"error": {"status": status, **step_error, "code": None}})


def _is_rpc(error: Object) -> bool:
    """Whether it is a `google.rpc.Status` in JSON."""
    return type(error.get("code")) is int or text_of(error, "status") is not None


def _reported(data: Object) -> ReportedError:
    reported = reported_in(data)
    return reported._replace(type=reported.code or reported.type)


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    status, body = rendered(error)
    return failure(status, {"error": body}, error)


def rendered(error: AbstractCoreError) -> tuple[int, Object]:
    """Returns the status and the error object for `error`."""
    row = _TABLE.row(error)
    message = mend(error.message)
    if isinstance(error, errors.InvalidInputError) and error.path:
        message = f"{message} (at {mend(error.path)})"
    return row.status, {"code": row.code or row.type, "message": message}


def error_event(error: AbstractCoreError) -> bytes:
    """Returns the JSON of the event that reports `error` during a stream."""
    return to_json({"event_type": "error", "error": rendered(error)[1]})
