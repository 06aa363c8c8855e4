"""Errors by cause, from what servers of this format say, and back.

Source: https://platform.claude.com/docs/en/api/errors, and the error codes that the vendor's own client knows.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_rows import class_of, complete, row_of, rows, status_message
from ...common.json_reading import Object, as_object, read_answer, text_of
from ...common.retry_waits import wait_headers
from ...common.surrogates import mend

RIGHT_ADDRESS = "Does base_url point at the API, with its /v1?"
"""What to ask where something else than the API answers."""
_ROWS = rows(timeout=504, overloaded=529)
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""What an error is called that goes out with a status."""

_BY_TYPE: dict[str, type[ProviderError]] = {
    "authentication_error": errors.AuthenticationError,
    "billing_error": errors.QuotaError,
    "permission_error": errors.AccessDeniedError,
    "not_found_error": errors.NotFoundError,
    "request_too_large": errors.BadRequestError,
    "rate_limit_error": errors.RateLimitError,
    "timeout_error": errors.RequestTimeoutError,
    "overloaded_error": errors.OverloadedError,
    "api_error": errors.ServerError,
}
_BY_CODE: dict[str, type[ProviderError]] = {
    **{row.code: row.error for row in _ROWS},
    "contract_spend_limit_reached": errors.QuotaError,
    "enforced_spend_limit_reached": errors.QuotaError,
    "linked_organization_billing_unavailable": errors.QuotaError,
    "linked_organization_spend_limit_reached": errors.QuotaError,
    "storage_quota_exceeded": errors.QuotaError,
    "organization_on_hold": errors.AccessDeniedError,
    "request_body_timeout": errors.RequestTimeoutError,
}
"""Codes in an error's details: those of our own servers, and those of the vendor's that say more than the type."""

_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check the API key: api_key=..., or the provider's environment variable.",
    errors.QuotaError: "Check the account's plan and billing.",
    errors.ModelNotFoundError: "Check the model's name, and that this key may use it.",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}
_NUMBER = r"(\d[\d,]{0,15})"
_OVERFLOW = re.compile(rf"prompt is too long(?:: {_NUMBER} tokens > {_NUMBER} maximum)?", re.ASCII)
_TOO_MUCH = re.compile(r"exceeds? (?:the )?(?:model'?s? )?context (?:window|limit|length)")
_FILTERED = re.compile(r"blocked by content filtering", re.IGNORECASE)
_CREDIT = re.compile(r"credit balance is too low|usage limits?\b.{0,80}\bregain access", re.IGNORECASE)


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    fallback = status_message(response)
    error = _make(data.get("error") or data, response.status, fallback)
    error.request_id = response.headers.get("request-id") or text_of(data, "request_id")
    return complete(error, response)


def error_in_answer(detail: Any) -> ProviderError:
    """The error that an answer with a successful status, or an event of its stream, reports."""
    return _make(detail, None, "the provider reported an error in its answer")


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    if data.get("error") is not None:
        return error_in_answer(data["error"])
    return error_in_answer(data) if text_of(data, "message") is not None else None


def _make(detail: Any, status: int | None, fallback: str) -> ProviderError:
    body = as_object(detail)
    message = text_of(body, "message") or (detail if isinstance(detail, str) else None) or fallback
    type_, code = text_of(body, "type"), text_of(as_object(body.get("details")), "error_code")
    error_class = _BY_CODE.get(code or "") or _narrowed(_class_of(type_, status), message)
    error = error_class(message, status=status, code=code or type_, hint=_HINTS.get(error_class))
    told = _OVERFLOW.search(message)
    if isinstance(error, ContextOverflowError) and told is not None and told[1] is not None:
        error.prompt_tokens, error.context_tokens = (int(number.replace(",", "")) for number in told.groups())
    return error


def _class_of(type_: str | None, status: int | None) -> type[ProviderError]:
    if type_ == "invalid_request_error" and status is None:
        return errors.BadRequestError
    return _BY_TYPE.get(type_ or "") or class_of(status)


def _narrowed(error_class: type[ProviderError], message: str) -> type[ProviderError]:
    """What only the message says."""
    if error_class is errors.NotFoundError and "model" in message.lower():
        return errors.ModelNotFoundError
    if error_class is not errors.BadRequestError:
        return error_class
    if _OVERFLOW.search(message) or _TOO_MUCH.search(message):
        return errors.ContextOverflowError
    if _FILTERED.search(message):
        return errors.ContentFilterError
    return errors.QuotaError if _CREDIT.search(message) else error_class


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = row_of(error, _ROWS)
    detail: Object = {"type": _TYPES[row.status], "message": _message(error), "details": {"error_code": row.code}}
    headers = {"content-type": "application/json", **wait_headers(error.retry_after)}
    return WireResponse(row.status, headers, to_json({"type": "error", "error": detail}))


def _message(error: AbstractCoreError) -> str:
    """Numbers of tokens are told in the vendor's own words, which clients look for."""
    if isinstance(error, ContextOverflowError) and error.prompt_tokens is not None and error.context_tokens is not None:
        return f"prompt is too long: {error.prompt_tokens} tokens > {error.context_tokens} maximum"
    return mend(error.message)
