"""Errors by cause, from what Google's servers say, and back.

Source: https://ai.google.dev/gemini-api/docs/troubleshooting, https://google.aip.dev/193 (error details), and the
codes of google/rpc/code.proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_rows import CALLERS_FAULT, class_of, complete, status_message
from ...common.json_reading import Object, as_object, as_objects, count_of, read_answer, text_of
from ...common.retry_waits import read_wait, wait_headers
from ...common.surrogates import mend

RIGHT_ADDRESS = "Does base_url point at the API, with its /v1beta?"
"""What to ask where something else than the API answers."""


@dataclass(frozen=True, slots=True)
class _Row:
    error: type[ProviderError]
    http: int
    status: str
    reason: str | None = None


_ROWS = (
    _Row(errors.ContextOverflowError, 400, "INVALID_ARGUMENT", "CONTEXT_OVERFLOW"),
    _Row(errors.ContentFilterError, 400, "INVALID_ARGUMENT", "CONTENT_FILTERED"),
    _Row(errors.ModelNotFoundError, 404, "NOT_FOUND", "MODEL_NOT_FOUND"),
    _Row(errors.QuotaError, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXHAUSTED"),
    _Row(errors.AuthenticationError, 401, "UNAUTHENTICATED"),
    _Row(errors.AccessDeniedError, 403, "PERMISSION_DENIED"),
    _Row(errors.NotFoundError, 404, "NOT_FOUND"),
    _Row(errors.RequestTimeoutError, 504, "DEADLINE_EXCEEDED"),
    _Row(errors.RateLimitError, 429, "RESOURCE_EXHAUSTED"),
    _Row(errors.OverloadedError, 503, "UNAVAILABLE"),
    _Row(errors.ServerError, 500, "INTERNAL"),
    _Row(errors.BadRequestError, 400, "INVALID_ARGUMENT"),
)
"""The first row of a class is how it is rendered. Its reason says what the vendor's words leave open."""

_BY_REASON: dict[str, type[ProviderError]] = {
    **{row.reason: row.error for row in _ROWS if row.reason is not None},
    "API_KEY_INVALID": errors.AuthenticationError,
    "ACCESS_TOKEN_EXPIRED": errors.AuthenticationError,
    "CREDENTIALS_MISSING": errors.AuthenticationError,
    "BILLING_DISABLED": errors.QuotaError,
    "RATE_LIMIT_EXCEEDED": errors.RateLimitError,
}
_BY_STATUS: dict[str, type[ProviderError]] = {
    **{row.status: row.error for row in _ROWS if row.reason is None},
    "FAILED_PRECONDITION": errors.AccessDeniedError,
    "OUT_OF_RANGE": errors.BadRequestError,
    "UNIMPLEMENTED": errors.BadRequestError,
    "ABORTED": errors.OverloadedError,
    "CANCELLED": errors.BadRequestError,
}
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check the API key: api_key=..., or the provider's environment variable.",
    errors.QuotaError: "Check the project's plan and billing.",
    errors.ModelNotFoundError: "Check the model's name, and that this key may use it.",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}
_NUMBER = r"(\d[\d,]{0,15})"
_OVERFLOW = re.compile(
    rf"input token count \(?(?:is )?{_NUMBER}\)? (?:exceeds the maximum number of tokens allowed|"
    rf"but (?:the )?model only supports up to) \(?{_NUMBER}",
    re.ASCII,
)
_MODEL = re.compile(r"models/\S{1,200} is not (?:found|supported)|[Pp]ublisher [Mm]odel", re.ASCII)
_CACHE = re.compile(r"CachedContent not found")
_TYPES = "type.googleapis.com/google.rpc."


def first_object(value: Any) -> Object:
    """A response object, also out of the list that a stream without events is."""
    if isinstance(value, list):
        return next(iter(as_objects(value)), {})  # pyright: ignore[reportUnknownArgumentType]
    return as_object(value)


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = first_object(read_answer(response.body))
    except ValueError:
        data = {}
    error = _make(data, response.status, status_message(response))
    headers = response.headers
    error.request_id = error.request_id or headers.get("x-goog-request-id") or headers.get("x-request-id")
    return complete(error, response)


def error_in_answer(data: Object) -> ProviderError:
    """The error that an answer with a successful status, or an event of its stream, reports."""
    code = count_of(as_object(data.get("error")), "code")
    status = code if code is not None and 300 <= code < 600 else None
    return _make(data, status, "the provider reported an error in its answer")


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    reported = data.get("error") is not None or text_of(data, "message") is not None
    return error_in_answer(data) if reported else None


def _make(data: Object, http: int | None, fallback: str) -> ProviderError:
    told = data.get("error") or data
    body = as_object(told)
    message = text_of(body, "message") or (told if isinstance(told, str) else fallback)
    details = as_objects(body.get("details"))
    reason = next((text_of(info, "reason") for info in _of_type(details, "ErrorInfo")), None)
    status = text_of(body, "status")
    error_class = _class_of(reason, status, http, details)
    if reason not in _BY_REASON:
        error_class = _narrowed(error_class, message)
    error = error_class(message, status=http, code=reason or status, hint=_HINTS.get(error_class))
    error.retry_after = _delay(details)
    error.request_id = next((text_of(info, "requestId") for info in _of_type(details, "RequestInfo")), None)
    if isinstance(error, ContextOverflowError):
        _add_token_counts(error, details, message)
    return error


def _of_type(details: list[Object], name: str) -> Iterable[Object]:
    return (detail for detail in details if text_of(detail, "@type") == f"{_TYPES}{name}")


def _class_of(reason: str | None, status: str | None, http: int | None, details: list[Object]) -> type[ProviderError]:
    found = _BY_REASON.get(reason or "") or _BY_STATUS.get(status or "")
    if found is errors.RateLimitError and _is_for_the_day(details):
        return errors.QuotaError
    return found or class_of(http)


def _is_for_the_day(details: list[Object]) -> bool:
    """Whether a limit is reached that the next minute does not lift."""
    violations = [item for detail in _of_type(details, "QuotaFailure") for item in as_objects(detail.get("violations"))]
    return any("PerDay" in (text_of(violation, "quotaId") or "") for violation in violations)


def _narrowed(error_class: type[ProviderError], message: str) -> type[ProviderError]:
    """What only the message says."""
    if error_class is errors.AccessDeniedError and _CACHE.search(message):
        return errors.NotFoundError
    if error_class is errors.NotFoundError and _MODEL.search(message):
        return errors.ModelNotFoundError
    if error_class is errors.BadRequestError and _OVERFLOW.search(message):
        return errors.ContextOverflowError
    return error_class


def _delay(details: list[Object]) -> float | None:
    """Seconds to wait, as a protocol buffer's duration says it: "34.07s"."""
    told = next((text_of(info, "retryDelay") for info in _of_type(details, "RetryInfo")), None)
    return read_wait({"retry-after": told[:-1]}) if told and told.endswith("s") else None


def _add_token_counts(error: ContextOverflowError, details: list[Object], message: str) -> None:
    metadata = [as_object(info.get("metadata")) for info in _of_type(details, "ErrorInfo")]
    counts = [text_of(metadata[0] if metadata else {}, name) for name in ("prompt_tokens", "context_tokens")]
    told = _OVERFLOW.search(message)
    if told is not None:
        counts = [number.replace(",", "") for number in told.groups()]
    if all(count and count.isascii() and count.isdigit() and len(count) < 16 for count in counts):
        error.prompt_tokens, error.context_tokens = (int(count or 0) for count in counts)


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = _row_of(error)
    details: list[Object] = []
    if row.reason is not None:
        details.append({"@type": f"{_TYPES}ErrorInfo", "reason": row.reason, "domain": "abstractcore"})
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
    body: Object = {"code": row.http, "message": mend(error.message), "status": row.status}
    if details:
        body["details"] = details
    headers = {"content-type": "application/json", **{name: wait[name] for name in wait if name == "retry-after"}}
    return WireResponse(row.http, headers, to_json({"error": body}))


def _row_of(error: AbstractCoreError) -> _Row:
    if isinstance(error, CALLERS_FAULT):
        return _ROWS[-1]
    return next((row for row in _ROWS if isinstance(error, row.error)), _Row(ProviderError, 500, "INTERNAL"))
