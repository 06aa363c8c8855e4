"""Errors by cause, from what servers of this format say, and back.

Source: https://docs.ollama.com/api/errors. Their errors are a status and a text. What our own server tells holds a
`code` beside the text, which clients of this format pass over.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_rows import class_of, complete, row_of, rows, status_message
from ...common.json_reading import Object, as_object, count_of, read_answer, text_of
from ...common.retry_waits import wait_headers
from ...common.surrogates import mend

RIGHT_ADDRESS = "Is this the address of an Ollama server, without a path?"
"""What to ask where something else than the API answers."""
_ROWS = rows()
_BY_CODE = {row.code: row.error for row in _ROWS} | {"exceed_context_size_error": errors.ContextOverflowError}
_MISSING_MODEL = re.compile(r"""model ["']([^"'\s]{1,200})["'] not found""")
_OVERFLOW = re.compile(
    r"exceeds the available context size|prompt is longer than the context length|input length exceeds the context"
)
_BUSY = "maximum pending requests exceeded"
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Sign in with `ollama signin`, or set OLLAMA_API_KEY, or pass api_key=...",
    errors.QuotaError: "Check the account's plan at ollama.com.",
    errors.ContextOverflowError: "Shorten the prompt, or give create_llm a larger context_size=... (in tokens).",
}


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    error = _make(data, response.status, status_message(response, "server"))
    error.request_id = response.headers.get("x-request-id")
    return complete(error, response)


def error_in_answer(data: Object) -> ProviderError:
    """The error that an answer with a successful status, or a line of its stream, reports."""
    return _make(data, None, "the server reported an error in its answer")


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    return error_in_answer(data) if data.get("error") else None


def _make(data: Object, status: int | None, fallback: str) -> ProviderError:
    detail = _inner(data.get("error"))
    body = as_object(detail)
    message = (detail if isinstance(detail, str) else text_of(body, "message")) or fallback
    code = text_of(data, "code") or text_of(body, "code") or text_of(body, "type")
    error_class = _BY_CODE.get(code or "") or _narrowed(class_of(status), message)
    error = error_class(message, status=status, code=code, hint=_HINTS.get(error_class))
    if isinstance(error, ContextOverflowError):
        error.prompt_tokens, error.context_tokens = count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")
    elif isinstance(error, errors.ModelNotFoundError):
        missing = _MISSING_MODEL.search(message)
        error.hint = f"Fetch it with `ollama pull {missing[1] if missing else 'NAME'}`."
    return error


def _inner(detail: Any) -> Any:
    """What is told; the process that runs the model tells it as JSON, which the server puts into a text."""
    if isinstance(detail, str) and detail.startswith("{"):
        try:
            told = as_object(read_answer(detail.encode("utf-8", "replace")))
        except ValueError:
            return detail
        return told.get("error") or told or detail
    return detail


def _narrowed(error_class: type[ProviderError], message: str) -> type[ProviderError]:
    """What only the message says."""
    if error_class in (errors.BadRequestError, errors.ServerError) and _OVERFLOW.search(message):
        return errors.ContextOverflowError
    if error_class in (errors.NotFoundError, errors.ServerError) and _MISSING_MODEL.search(message):
        return errors.ModelNotFoundError
    return errors.OverloadedError if _BUSY in message else error_class


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = row_of(error, _ROWS)
    body: Object = {"error": mend(error.message), "code": row.code}
    headers = {"content-type": "application/json", **wait_headers(error.retry_after)}
    return WireResponse(row.status, headers, to_json(body))
