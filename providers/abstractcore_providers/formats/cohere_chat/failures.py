"""Errors by cause, from what Cohere says, and back.

Sources: https://docs.cohere.com/reference/errors, and the statuses of https://docs.cohere.com/reference/chat. Their
errors are a status and a text. What our own server tells holds a `code` beside the text.
"""

from __future__ import annotations

import re

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_rows import class_of, complete, row_of, rows, status_message
from ...common.json_reading import Object, as_object, read_answer, text_of
from ...common.retry_waits import wait_headers
from ...common.surrogates import mend

RIGHT_ADDRESS = "Does base_url point at the API, with its /v2?"
"""What to ask where something else than the API answers."""
_DENIED_TOKEN = 498
"""The vendor's own status for a deny-listed token in request or answer."""
_ROWS = rows(content_filter=_DENIED_TOKEN, timeout=504)

_BY_CODE = {row.code: row.error for row in _ROWS}
FAILED = {"ERROR": None, "TIMEOUT": "timeout"}
"""Finish reasons of answers that are errors, each with the code it stands for."""
_OVERFLOW = re.compile(r"too many tokens: (?!max tokens)")
_COUNTS = re.compile(r"cannot exceed (\d{1,12}) - received (\d{1,12})", re.ASCII)
_MISSING_MODEL = re.compile(r"model .{1,200}?not found|could not find model|unknown model", re.IGNORECASE)
_QUOTA = re.compile(r"limited to [\d,]{1,12} API calls ?/ ?month|billing|maximum monthly", re.IGNORECASE | re.ASCII)
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check the API key: api_key=..., or CO_API_KEY.",
    errors.QuotaError: "Check the key's plan and billing at dashboard.cohere.com.",
    errors.ModelNotFoundError: "Check the model's name, and that this key may use it.",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    error = _make(data, response.status, status_message(response))
    headers = response.headers
    error.request_id = headers.get("x-request-id") or headers.get("x-debug-trace-id") or text_of(data, "id")
    return complete(error, response)


def error_in_answer(data: Object) -> ProviderError:
    """The error that an answer with a successful status, or an event of its stream, reports."""
    return _make(data, None, "the provider reported an error in its answer")


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    failed = text_of(data, "finish_reason") in FAILED
    return error_in_answer(data) if failed or data.get("error") or _told(data) is not None else None


def _told(data: Object) -> str | None:
    """What the vendor says in words."""
    return text_of(data, "message") or text_of(data, "error") or text_of(as_object(data.get("error")), "message")


def _make(data: Object, status: int | None, fallback: str) -> ProviderError:
    message = _told(data) or fallback
    code = text_of(data, "code") or FAILED.get(text_of(data, "finish_reason") or "")
    by_status = errors.ContentFilterError if status == _DENIED_TOKEN else class_of(status)
    error_class = _BY_CODE.get(code or "") or _narrowed(by_status, message)
    error = error_class(message, status=status, code=code, hint=_HINTS.get(error_class))
    counts = _COUNTS.search(message)
    if isinstance(error, ContextOverflowError) and counts is not None:
        error.context_tokens, error.prompt_tokens = (int(count) for count in counts.groups())
    return error


def _narrowed(error_class: type[ProviderError], message: str) -> type[ProviderError]:
    """What only the message says."""
    if error_class in (errors.BadRequestError, errors.ServerError) and _OVERFLOW.search(message):
        return errors.ContextOverflowError
    if error_class in (errors.NotFoundError, errors.BadRequestError) and _MISSING_MODEL.search(message):
        return errors.ModelNotFoundError
    if error_class is errors.RateLimitError and _QUOTA.search(message):
        return errors.QuotaError
    return error_class


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = row_of(error, _ROWS)
    body: Object = {"message": mend(error.message), "code": row.code}
    headers = {"content-type": "application/json", **wait_headers(error.retry_after)}
    return WireResponse(row.status, headers, to_json(body))
