"""Errors by cause, from what servers of this format say, and back.

Source: https://platform.openai.com/docs/guides/error-codes, and llama.cpp's tools/server/README.md for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ..json_reading import Object, as_object, count_of, read_json, text_of


@dataclass(frozen=True, slots=True)
class _Row:
    error: type[ProviderError]
    status: int
    type: str
    code: str | None = None


_ROWS = (
    _Row(errors.ContextOverflowError, 400, "invalid_request_error", "context_length_exceeded"),
    _Row(errors.ContextOverflowError, 400, "exceed_context_size_error"),
    _Row(errors.ContentFilterError, 400, "invalid_request_error", "content_filter"),
    _Row(errors.ContentFilterError, 400, "invalid_request_error", "content_policy_violation"),
    _Row(errors.ModelNotFoundError, 404, "invalid_request_error", "model_not_found"),
    _Row(errors.QuotaError, 429, "insufficient_quota", "insufficient_quota"),
    _Row(errors.AuthenticationError, 401, "authentication_error", "invalid_api_key"),
    _Row(errors.AccessDeniedError, 403, "permission_error"),
    _Row(errors.NotFoundError, 404, "not_found_error"),
    _Row(errors.RequestTimeoutError, 408, "timeout_error"),
    _Row(errors.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded"),
    _Row(errors.OverloadedError, 503, "overloaded_error"),
    _Row(errors.ServerError, 500, "server_error"),
    _Row(errors.BadRequestError, 400, "invalid_request_error"),
)
"""The first row of a class is how it is rendered."""

_BY_CODE = {row.code: row.error for row in _ROWS if row.code is not None}
_BY_TYPE = {row.type: row.error for row in _ROWS if row.type != "invalid_request_error"}
_BY_STATUS: dict[int, type[ProviderError]] = {
    400: errors.BadRequestError,
    401: errors.AuthenticationError,
    402: errors.QuotaError,
    403: errors.AccessDeniedError,
    404: errors.NotFoundError,
    408: errors.RequestTimeoutError,
    409: errors.OverloadedError,
    413: errors.BadRequestError,
    422: errors.BadRequestError,
    429: errors.RateLimitError,
    503: errors.OverloadedError,
    529: errors.OverloadedError,
}
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check the API key: api_key=..., or the provider's environment variable.",
    errors.QuotaError: "Check the account's plan and billing.",
    errors.ModelNotFoundError: "Check the model's name, and that this key may use it.",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}
_OPENAI_OVERFLOW = re.compile(r"maximum context length is ([\d,]+) tokens.*?resulted in ([\d,]+) tokens", re.DOTALL)


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_json(response.body))
    except ValueError:
        data = {}
    detail = data.get("error", data)
    fallback = f"the provider answered with status {response.status}"
    error = _make(detail, response.status, fallback)
    error.request_id = response.headers.get("x-request-id")
    error.retry_after = _retry_after(response)
    return error


def error_in_stream(detail: Any) -> ProviderError:
    """The error an event inside a successful stream reports."""
    status = count_of(as_object(detail), "code")
    return _make(detail, status, "the provider reported an error in the middle of its answer")


def _make(detail: Any, status: int | None, fallback: str) -> ProviderError:
    body = as_object(detail)
    message = text_of(body, "message") or (detail if isinstance(detail, str) else None) or fallback
    code, type_ = text_of(body, "code"), text_of(body, "type")
    error_class = _class_of(code, type_, status)
    if error_class is errors.NotFoundError and "model" in message.lower():
        error_class = errors.ModelNotFoundError
    error = error_class(message, status=status, code=code or type_, hint=_HINTS.get(error_class))
    if isinstance(error, ContextOverflowError):
        _add_token_counts(error, body, message)
    return error


def _class_of(code: str | None, type_: str | None, status: int | None) -> type[ProviderError]:
    by_name = _BY_CODE.get(code or "") or _BY_TYPE.get(type_ or "")
    if by_name is not None:
        return by_name
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    return errors.BadRequestError if status is not None and 400 <= status < 500 else errors.ServerError


def _add_token_counts(error: ContextOverflowError, body: Object, message: str) -> None:
    error.prompt_tokens, error.context_tokens = count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")
    told = _OPENAI_OVERFLOW.search(message)
    if told is not None:
        error.context_tokens, error.prompt_tokens = (int(number.replace(",", "")) for number in told.groups())


def _retry_after(response: WireResponse) -> float | None:
    """Seconds to wait, from milliseconds, seconds, or a date (against the response's own date, as RFC 9110 allows)."""
    milliseconds = response.headers.get("retry-after-ms")
    value = response.headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is None:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        sent = parsedate_to_datetime(response.headers["date"])
        return max(0.0, (parsedate_to_datetime(value) - sent).total_seconds())
    except (ValueError, KeyError, TypeError):
        return None


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = next((row for row in _ROWS if isinstance(error, row.error)), None)
    if row is None:
        row = _Row(ProviderError, 500, "server_error") if isinstance(error, ProviderError) else _ROWS[-1]
    headers = {"content-type": "application/json"}
    if error.retry_after is not None:
        headers["retry-after"] = f"{error.retry_after:g}"
    body: Object = {"message": error.message, "type": row.type, "param": None, "code": row.code}
    if isinstance(error, ContextOverflowError) and error.prompt_tokens is not None:
        body |= {"n_prompt_tokens": error.prompt_tokens, "n_ctx": error.context_tokens}
    return WireResponse(row.status, headers, to_json({"error": body}))
