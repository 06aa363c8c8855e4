"""Errors of Google's servers as `google.rpc.Status`, read and rendered.

Source: https://ai.google.dev/gemini-api/docs/troubleshooting, https://google.aip.dev/193 (error details), and the codes
of google/rpc/code.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json

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
    read_failure,
    read_wait,
    reported_in,
    wait_headers,
)
from .reading import Object, as_object, as_objects, mend, text_of

RIGHT_ADDRESS = "Does base_url point to the API, including /v1beta?"
"""The hint where something other than the API answers."""


OVERFLOW = re.compile(
    rf"input token count \(?(?:is )?(?P<prompt>{NUMBER})\)? (?:exceeds the maximum number of tokens allowed|"
    rf"but (?:the )?model only supports up to) \(?(?P<context>{NUMBER})",
    re.ASCII,
)
"""The message for a prompt that is too long, with both counts."""

_STORAGE = "FileStorageBytesPerProject"
"""The quota of the file store, as in https://github.com/googleapis/python-genai/issues/1172."""

MODEL_NAMED = re.compile(r"models/\S{1,200} is not (?:found|supported)|[Pp]ublisher [Mm]odel", re.ASCII)
"""The message for an unknown model."""

_TABLE = ErrorTable(
    # The type is the vendor's status; the code is the more specific reason.
    (
        ErrorRow(errors.ContextOverflowError, 400, "INVALID_ARGUMENT", "CONTEXT_OVERFLOW"),
        ErrorRow(errors.ContentFilterError, 400, "INVALID_ARGUMENT", "CONTENT_FILTERED"),
        ErrorRow(errors.ModelNotFoundError, 404, "NOT_FOUND", "MODEL_NOT_FOUND"),
        ErrorRow(errors.QuotaError, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXHAUSTED"),
        ErrorRow(errors.AuthenticationError, 401, "UNAUTHENTICATED"),
        ErrorRow(errors.AccessDeniedError, 403, "PERMISSION_DENIED"),
        ErrorRow(errors.NotFoundError, 404, "NOT_FOUND"),
        ErrorRow(errors.RequestTimeoutError, 504, "DEADLINE_EXCEEDED"),
        ErrorRow(errors.RateLimitError, 429, "RESOURCE_EXHAUSTED"),
        ErrorRow(errors.OverloadedError, 503, "UNAVAILABLE"),
        ErrorRow(errors.ServerError, 500, "INTERNAL"),
        ErrorRow(errors.BadRequestError, 400, "INVALID_ARGUMENT"),
    ),
    codes={
        "API_KEY_INVALID": errors.AuthenticationError,
        "ACCESS_TOKEN_EXPIRED": errors.AuthenticationError,
        "CREDENTIALS_MISSING": errors.AuthenticationError,
        "BILLING_DISABLED": errors.QuotaError,
        _STORAGE: errors.StorageFullError,
        "RATE_LIMIT_EXCEEDED": errors.RateLimitError,
    },
    types={
        "FAILED_PRECONDITION": errors.AccessDeniedError,
        "OUT_OF_RANGE": errors.BadRequestError,
        "UNIMPLEMENTED": errors.BadRequestError,
        "ABORTED": errors.OverloadedError,
        "CANCELLED": errors.BadRequestError,
    },
    narrower=(
        ErrorPattern(re.compile(r"CachedContent not found"), errors.NotFoundError, (errors.AccessDeniedError,)),
        ErrorPattern(MODEL_NAMED, errors.ModelNotFoundError, (errors.NotFoundError,)),
        ErrorPattern(OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError,)),
    ),
    counts=(OVERFLOW,),
    hints={
        errors.AuthenticationError: CHECK_KEY,
        errors.QuotaError: "Check the project's plan and billing.",
        errors.StorageFullError: DELETE_FILES,
        errors.ModelNotFoundError: CHECK_MODEL,
        errors.ContextOverflowError: SHORTEN,
    },
)
_TYPES = "type.googleapis.com/google.rpc."


def first_object(value: Any) -> Object:
    """Returns a response object, also from the list that an unstructured stream is."""
    if isinstance(value, list):
        return next(iter(as_objects(value)), {})  # pyright: ignore[reportUnknownArgumentType]
    return as_object(value)


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    headers = response.headers
    request_id = headers.get("x-goog-request-id") or headers.get("x-request-id")
    return _TABLE.of_response(_read_error(first_object(read_failure(response))), response, request_id)


def error_in_answer(data: Object) -> ProviderError:
    """Returns the error that a successful response, or an event of its stream, contains."""
    return _TABLE.in_answer(_read_error(data))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    return error_in_answer(data) if body_reports_error(data) else None


def _read_error(data: Object) -> ReportedError:
    body = error_object(data)
    details = as_objects(body.get("details"))
    found = reported_in(data)
    reported = found._replace(
        code=next((text_of(info, "reason") for info in _of_type(details, "ErrorInfo")), found.code),
        type=text_of(body, "status") or found.type,
        counts=_counts(details),
        wait=_delay(details),
        request_id=next((text_of(info, "requestId") for info in _of_type(details, "RequestInfo")), None),
    )
    if _TABLE.error_class(reported) is not errors.RateLimitError:
        return reported
    quotas = _quotas(details)
    if _STORAGE in quotas:
        return reported._replace(code=_STORAGE)
    return reported._replace(known=errors.QuotaError) if any("PerDay" in quota for quota in quotas) else reported


def _of_type(details: list[Object], name: str) -> Iterable[Object]:
    return (detail for detail in details if text_of(detail, "@type") == f"{_TYPES}{name}")


def _quotas(details: list[Object]) -> list[str]:
    """Returns the ids of the quotas that are exceeded; those per day are not restored within a minute."""
    violations = [item for detail in _of_type(details, "QuotaFailure") for item in as_objects(detail.get("violations"))]
    return [text_of(violation, "quotaId") or "" for violation in violations]


def _delay(details: list[Object]) -> float | None:
    """Returns the seconds to wait, from a protocol buffer's duration: "34.07s"."""
    delay = next((text_of(info, "retryDelay") for info in _of_type(details, "RetryInfo")), None)
    return read_wait({"retry-after": delay[:-1]}) if delay and delay.endswith("s") else None


def _counts(details: list[Object]) -> tuple[int | None, int | None]:
    metadata = as_object(next((info.get("metadata") for info in _of_type(details, "ErrorInfo")), None))
    prompt, context = (text_of(metadata, name) or "" for name in ("prompt_tokens", "context_tokens"))
    is_known = all(count.isascii() and count.isdigit() and len(count) < 16 for count in (prompt, context))
    return (int(prompt), int(context)) if is_known else (None, None)


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    details: list[Object] = []
    if row.code is not None:
        details.append({"@type": f"{_TYPES}ErrorInfo", "reason": row.code, "domain": "abstractcore"})
        if isinstance(error, ContextOverflowError) and None not in (error.prompt_tokens, error.context_tokens):
            counts = {"prompt_tokens": str(error.prompt_tokens), "context_tokens": str(error.context_tokens)}
            details[-1]["metadata"] = counts
    if isinstance(error, errors.InvalidInputError) and error.path:
        violation = {"field": mend(error.path), "description": mend(error.message)}
        details.append({"@type": f"{_TYPES}BadRequest", "fieldViolations": [violation]})
    wait = wait_headers(error.retry_after)
    if wait:
        seconds, milliseconds = divmod(int(wait["retry-after-ms"]), 1000)
        details.append({"@type": f"{_TYPES}RetryInfo", "retryDelay": f"{seconds}.{milliseconds:03}s"})
    body: Object = {"code": row.status, "message": mend(error.message), "status": row.type}
    if details:
        body["details"] = details
    headers = {"content-type": "application/json", **{name: wait[name] for name in wait if name == "retry-after"}}
    return WireResponse(row.status, headers, to_json({"error": body}))
