"""Errors of servers with this format, read and rendered.

Source: https://platform.claude.com/docs/en/api/errors, and the error codes that the vendor's own client knows.
"""

from __future__ import annotations

import re
from typing import Any

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_table import (
    CHECK_KEY,
    CHECK_MODEL,
    DELETE_FILES,
    NUMBER,
    SHORTEN,
    ErrorPattern,
    ErrorRow,
    ErrorTable,
    ReportedError,
    body_reports_error,
    error_object,
    failure,
    read_failure,
    reported_in,
)
from ...common.reading import Object, as_object, mend, text_of

RIGHT_ADDRESS = "Does base_url point to the API, including /v1?"
"""The hint where something other than the API answers."""
_QUOTA_CODES = (
    "contract_spend_limit_reached",
    "enforced_spend_limit_reached",
    "linked_organization_billing_unavailable",
    "linked_organization_spend_limit_reached",
)
_OVERFLOW = re.compile(
    rf"prompt is too long(?:: (?P<prompt>{NUMBER}) tokens > (?P<context>{NUMBER}) maximum)?", re.ASCII
)
_TOO_MUCH = re.compile(r"exceeds? (?:the )?(?:model'?s? )?context (?:window|limit|length)")
_CREDIT = re.compile(r"credit balance is too low|usage limits?\b.{0,80}\bregain access", re.IGNORECASE)
_BAD_REQUEST = (errors.BadRequestError,)
_TABLE = ErrorTable(
    (
        ErrorRow(errors.ContextOverflowError, 400, "invalid_request_error", "context_length_exceeded"),
        ErrorRow(errors.ContentFilterError, 400, "invalid_request_error", "content_filter"),
        ErrorRow(errors.BadRequestError, 400, "invalid_request_error", "bad_request"),
        ErrorRow(errors.AuthenticationError, 401, "authentication_error", "unauthorized"),
        ErrorRow(errors.QuotaError, 402, "billing_error", "quota_exceeded"),
        ErrorRow(errors.AccessDeniedError, 403, "permission_error", "forbidden"),
        ErrorRow(errors.ModelNotFoundError, 404, "not_found_error", "model_not_found"),
        ErrorRow(errors.NotFoundError, 404, "not_found_error", "not_found"),
        ErrorRow(errors.RequestTimeoutError, 504, "timeout_error", "timeout"),
        ErrorRow(errors.RateLimitError, 429, "rate_limit_error", "rate_limited"),
        ErrorRow(errors.OverloadedError, 529, "overloaded_error", "overloaded"),
        ErrorRow(errors.ServerError, 500, "api_error", "server_error"),
    ),
    # Codes in an error's details: AbstractCore's, and the vendor's that are more specific than the type.
    codes={
        **dict.fromkeys(_QUOTA_CODES, errors.QuotaError),
        "storage_quota_exceeded": errors.StorageFullError,
        "organization_on_hold": errors.AccessDeniedError,
        "request_body_timeout": errors.RequestTimeoutError,
    },
    types={"request_too_large": errors.BadRequestError, "conflict_error": errors.OverloadedError},
    vague=frozenset({"invalid_request_error"}),
    narrower=(
        ErrorPattern(re.compile(r"model", re.IGNORECASE), errors.ModelNotFoundError, (errors.NotFoundError,)),
        ErrorPattern(_OVERFLOW, errors.ContextOverflowError, _BAD_REQUEST),
        ErrorPattern(_TOO_MUCH, errors.ContextOverflowError, _BAD_REQUEST),
        ErrorPattern(
            re.compile(r"blocked by content filtering", re.IGNORECASE), errors.ContentFilterError, _BAD_REQUEST
        ),
        ErrorPattern(_CREDIT, errors.QuotaError, _BAD_REQUEST),
    ),
    counts=(_OVERFLOW,),
    hints={
        errors.AuthenticationError: CHECK_KEY,
        errors.QuotaError: "Check the account's plan and billing.",
        errors.StorageFullError: DELETE_FILES,
        errors.ModelNotFoundError: CHECK_MODEL,
        errors.ContextOverflowError: SHORTEN,
    },
)


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    data = as_object(read_failure(response))
    request_id = response.headers.get("request-id") or text_of(data, "request_id")
    return _TABLE.of_response(_reported(data), response, request_id)


def error_in_answer(detail: Any) -> ProviderError:
    """Returns the error that a successful response, or an event of its stream, contains."""
    return _TABLE.in_answer(_reported(detail))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    return error_in_answer(data) if body_reports_error(data) else None


def _reported(detail: Any) -> ReportedError:
    reported = reported_in(detail)
    code = text_of(as_object(error_object(detail).get("details")), "error_code")
    return reported if code is None else reported._replace(code=code)


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    detail: Object = {"type": row.type, "message": _message(error), "details": {"error_code": row.code}}
    return failure(row.status, {"type": "error", "error": detail}, error)


def _message(error: AbstractCoreError) -> str:
    """Token counts are rendered in the vendor's wording, which clients search for."""
    if isinstance(error, ContextOverflowError) and error.prompt_tokens is not None and error.context_tokens is not None:
        return f"prompt is too long: {error.prompt_tokens} tokens > {error.context_tokens} maximum"
    return mend(error.message)
