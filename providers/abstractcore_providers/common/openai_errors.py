"""Errors of servers with OpenAI's formats, read and rendered.

Sources: https://platform.openai.com/docs/guides/error-codes, the API reference's `ResponseErrorCode`, and llama.cpp's
tools/server/README.md for its own.
"""

from __future__ import annotations

import re
from typing import Any

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from .error_table import (
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
from .reading import Object, count_of, mend

_BAD_REQUEST_CODES = (
    "data_residency_mismatch",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
    "image_file_too_large",
    "image_parse_error",
    "image_too_large",
    "image_too_small",
    "invalid_base64_image",
    "invalid_encrypted_content",
    "invalid_image",
    "invalid_image_format",
    "invalid_image_mode",
    "invalid_image_url",
    "invalid_prompt",
    "unsupported_image_media_type",
)
"""Codes in the body of a failed response, without a status or a type."""
_QUOTA_CODES = (
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "project_spend_limit_exceeded",
)
_OVERFLOW = re.compile(
    rf"maximum context length is (?P<context>{NUMBER}) tokens.{{0,400}}?"
    rf"(?:resulted in|requested) (?P<prompt>{NUMBER}) tokens",
    re.DOTALL | re.ASCII,
)
_TABLE = ErrorTable(
    (
        ErrorRow(errors.ContextOverflowError, 400, "invalid_request_error", "context_length_exceeded"),
        ErrorRow(errors.ContextOverflowError, 400, "exceed_context_size_error"),
        ErrorRow(errors.ContentFilterError, 400, "invalid_request_error", "content_filter"),
        ErrorRow(errors.ModelNotFoundError, 404, "invalid_request_error", "model_not_found"),
        ErrorRow(errors.QuotaError, 429, "insufficient_quota", "insufficient_quota"),
        ErrorRow(errors.AuthenticationError, 401, "authentication_error", "invalid_api_key"),
        ErrorRow(errors.AccessDeniedError, 403, "permission_error"),
        ErrorRow(errors.NotFoundError, 404, "not_found_error", "not_found"),
        ErrorRow(errors.RequestTimeoutError, 408, "timeout_error"),
        ErrorRow(errors.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded"),
        ErrorRow(errors.OverloadedError, 503, "service_unavailable_error", "server_is_overloaded"),
        ErrorRow(errors.OverloadedError, 503, "overloaded_error"),
        ErrorRow(errors.ServerError, 500, "server_error"),
        ErrorRow(errors.BadRequestError, 400, "invalid_request_error"),
    ),
    codes={
        **dict.fromkeys(_QUOTA_CODES, errors.QuotaError),
        **dict.fromkeys(_BAD_REQUEST_CODES, errors.BadRequestError),
        "bio_policy": errors.ContentFilterError,
        "content_policy_violation": errors.ContentFilterError,
        "image_content_policy_violation": errors.ContentFilterError,
        "misalignment_policy_violation": errors.ContentFilterError,
        "slow_down": errors.RateLimitError,
    },
    vague=frozenset({"invalid_request_error", "server_error"}),
    narrower=(
        # Servers without error codes (LM Studio, for an unknown path) are recognized by the message.
        ErrorPattern(re.compile(r"\AUnexpected endpoint or method"), errors.NotFoundError),
        ErrorPattern(re.compile(r"model", re.IGNORECASE), errors.ModelNotFoundError, (errors.NotFoundError,)),
        ErrorPattern(_OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError,)),
        # The message that users report, as in https://github.com/bespokelabsai/curator/issues/189.
        ErrorPattern(re.compile(r"file storage quota"), errors.StorageFullError, (errors.BadRequestError,)),
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
    return _TABLE.of_response(_read_error(read_failure(response)), response, response.headers.get("x-request-id"))


def error_in_answer(detail: Any) -> ProviderError:
    """Returns the error that a successful response, or an event of its stream, contains."""
    return _TABLE.in_answer(_read_error(detail))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    return error_in_answer(data) if body_reports_error(data) else None


def _read_error(detail: Any) -> ReportedError:
    body = error_object(detail)
    return reported_in(detail)._replace(counts=(count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")))


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    body: Object = {"message": mend(error.message), "type": row.type, "param": None, "code": row.code}
    if isinstance(error, errors.InvalidInputError) and error.path:
        body["param"] = mend(error.path)
    if isinstance(error, ContextOverflowError):
        counts = {"n_prompt_tokens": error.prompt_tokens, "n_ctx": error.context_tokens}
        body |= {name: count for name, count in counts.items() if count is not None}
    return failure(row.status, {"error": body}, error)


def error_words(error: AbstractCoreError) -> Object:
    """Renders `error` as an event of a stream: without a type, as its code is more specific."""
    row = _TABLE.row(error)
    return {"code": row.code or row.type, "message": mend(error.message), "param": None}
