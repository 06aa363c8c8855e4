"""Errors by cause, from what servers of OpenAI's formats say, and back.

Sources: https://platform.openai.com/docs/guides/error-codes, the API reference's `ResponseErrorCode`, and
llama.cpp's tools/server/README.md for its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from .error_rows import CALLERS_FAULT, class_of, complete, status_message
from .json_reading import Object, as_object, count_of, read_answer, text_of
from .retry_waits import wait_headers
from .surrogates import mend

RIGHT_ADDRESS = "Does base_url point at the API, with its /v1?"
"""What to ask where something else than the API answers."""
_OWN_FAULT = "invalid_request_error"


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
    _Row(errors.QuotaError, 429, "insufficient_quota", "credit_balance_exhausted"),
    _Row(errors.QuotaError, 429, "insufficient_quota", "organization_spend_limit_exceeded"),
    _Row(errors.QuotaError, 429, "insufficient_quota", "organization_usage_limit_exceeded"),
    _Row(errors.QuotaError, 429, "insufficient_quota", "project_spend_limit_exceeded"),
    _Row(errors.AuthenticationError, 401, "authentication_error", "invalid_api_key"),
    _Row(errors.AccessDeniedError, 403, "permission_error"),
    _Row(errors.NotFoundError, 404, "not_found_error", "not_found"),
    _Row(errors.RequestTimeoutError, 408, "timeout_error"),
    _Row(errors.RateLimitError, 429, "rate_limit_error", "rate_limit_exceeded"),
    _Row(errors.RateLimitError, 429, "rate_limit_error", "slow_down"),
    _Row(errors.OverloadedError, 503, "service_unavailable_error", "server_is_overloaded"),
    _Row(errors.OverloadedError, 503, "overloaded_error"),
    _Row(errors.ServerError, 500, "server_error"),
    _Row(errors.BadRequestError, 400, "invalid_request_error"),
)
"""The first row of a class is how it is rendered."""

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
"""Codes that come in the body of a response that failed, without a status or a type."""
_FILTERED_CODES = ("bio_policy", "image_content_policy_violation")

_BY_CODE: dict[str, type[ProviderError]] = {
    **{row.code: row.error for row in _ROWS if row.code is not None},
    **dict.fromkeys(_BAD_REQUEST_CODES, errors.BadRequestError),
    **dict.fromkeys(_FILTERED_CODES, errors.ContentFilterError),
}
_BY_TYPE = {row.type: row.error for row in _ROWS if row.type not in (_OWN_FAULT, "server_error")}
"""Two types say less than the status."""
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check the API key: api_key=..., or the provider's environment variable.",
    errors.QuotaError: "Check the account's plan and billing.",
    errors.ModelNotFoundError: "Check the model's name, and that this key may use it.",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}
_NUMBER = r"(\d[\d,]{0,15})"
_OPENAI_OVERFLOW = re.compile(
    rf"maximum context length is {_NUMBER} tokens.*?(?:resulted in|requested) {_NUMBER} tokens", re.DOTALL | re.ASCII
)


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    detail = data.get("error") or data
    fallback = status_message(response)
    error = _make(detail, response.status, fallback)
    error.request_id = response.headers.get("x-request-id")
    return complete(error, response)


def error_in_answer(detail: Any) -> ProviderError:
    """The error that an answer with a successful status, or an event of its stream, reports."""
    code = count_of(as_object(detail), "code")
    status = code if code is not None and 300 <= code < 600 else None
    return _make(detail, status, "the provider reported an error in its answer")


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    if data.get("error") is not None:
        return error_in_answer(data["error"])
    said = text_of(data, "message") or text_of(data, "detail")
    return error_in_answer(data) if said is not None else None


def _make(detail: Any, status: int | None, fallback: str) -> ProviderError:
    body = as_object(detail)
    told = text_of(body, "message") or text_of(body, "detail") or (detail if isinstance(detail, str) else None)
    message = told or fallback
    code, type_ = text_of(body, "code"), text_of(body, "type")
    error_class = _class_of(code, type_, status)
    if code not in _BY_CODE:
        error_class = _narrowed(error_class, message)
    error = error_class(message, status=status, code=code or type_, hint=_HINTS.get(error_class))
    if isinstance(error, ContextOverflowError):
        _add_token_counts(error, body, message)
    return error


def _class_of(code: str | None, type_: str | None, status: int | None) -> type[ProviderError]:
    by_name = _BY_CODE.get(code or "") or _BY_TYPE.get(type_ or "")
    if by_name is None and status is None and type_ == _OWN_FAULT:
        return errors.BadRequestError
    return by_name or class_of(status)


def _narrowed(error_class: type[ProviderError], message: str) -> type[ProviderError]:
    """What only the message says, at servers that give no code (LM Studio's, of a path that it does not have)."""
    if message.startswith("Unexpected endpoint or method"):
        return errors.NotFoundError
    if error_class is errors.NotFoundError and "model" in message.lower():
        return errors.ModelNotFoundError
    if error_class is errors.BadRequestError and _OPENAI_OVERFLOW.search(message):
        return errors.ContextOverflowError
    return error_class


def _add_token_counts(error: ContextOverflowError, body: Object, message: str) -> None:
    error.prompt_tokens, error.context_tokens = count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")
    told = _OPENAI_OVERFLOW.search(message)
    if told is not None:
        error.context_tokens, error.prompt_tokens = (int(number.replace(",", "")) for number in told.groups())


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = _row_of(error)
    body: Object = {"message": mend(error.message), "type": row.type, "param": None, "code": row.code}
    if isinstance(error, errors.InvalidInputError) and error.path:
        body["param"] = mend(error.path)
    if isinstance(error, ContextOverflowError):
        counts = {"n_prompt_tokens": error.prompt_tokens, "n_ctx": error.context_tokens}
        body |= {name: count for name, count in counts.items() if count is not None}
    headers = {"content-type": "application/json", **wait_headers(error.retry_after)}
    return WireResponse(row.status, headers, to_json({"error": body}))


def error_words(error: AbstractCoreError) -> Object:
    """`error` as an event of a stream tells it: without a type of its own, its code says the cause."""
    row = _row_of(error)
    return {"code": row.code or row.type, "message": mend(error.message), "param": None}


def _row_of(error: AbstractCoreError) -> _Row:
    if isinstance(error, CALLERS_FAULT):
        return _ROWS[-1]
    return next((row for row in _ROWS if isinstance(error, row.error)), _Row(ProviderError, 500, "server_error"))
