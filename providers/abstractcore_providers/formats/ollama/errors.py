"""Errors by cause, from what servers of this format say, and back.

Source: https://docs.ollama.com/api/errors. Their errors are a status and a text. What our own server tells holds a
`code` beside the text, which clients of this format pass over.
"""

from __future__ import annotations

import re
from typing import Any

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_table import ErrorTable, Narrower, Said, failure, own_rows, read_failure
from ...common.json_reading import Object, as_object, count_of, read_answer, text_of
from ...common.surrogates import mend

RIGHT_ADDRESS = "Is this the URL of an Ollama server, without a path?"
"""What to ask where something else than the API answers."""
_MISSING_MODEL = re.compile(r"""model ["']([^"'\s]{1,200})["'] not found""")
_OVERFLOW = re.compile(
    r"exceeds the available context size|prompt is longer than the context length|input length exceeds the context"
)
_TABLE = ErrorTable(
    own_rows(),
    codes={"exceed_context_size_error": errors.ContextOverflowError},
    narrower=(
        Narrower(_OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError, errors.ServerError)),
        Narrower(_MISSING_MODEL, errors.ModelNotFoundError, (errors.NotFoundError, errors.ServerError)),
        Narrower(re.compile("maximum pending requests exceeded"), errors.OverloadedError),
    ),
    hints={
        errors.AuthenticationError: "Sign in with `ollama signin`, or set OLLAMA_API_KEY, or pass api_key=...",
        errors.QuotaError: "Check the account's plan at ollama.com.",
        errors.ContextOverflowError: "Shorten the prompt, or give create_llm a larger context_size=... (in tokens).",
    },
)
_WHO = "server"


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    said = _said(as_object(read_failure(response)))
    return _hinted(_TABLE.of_response(said, response, response.headers.get("x-request-id"), who=_WHO))


def error_in_answer(data: Object) -> ProviderError:
    """The error that an answer with a successful status, or a line of its stream, reports."""
    return _hinted(_TABLE.in_answer(_said(data), who=_WHO))


def error_in_body(data: Object) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    return error_in_answer(data) if data.get("error") else None


def _said(data: Object) -> Said:
    detail = _inner(data.get("error"))
    body = as_object(detail)
    message = detail if isinstance(detail, str) else text_of(body, "message")
    code = text_of(data, "code") or text_of(body, "code") or text_of(body, "type")
    return Said(message, code, counts=(count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")))


def _hinted(error: ProviderError) -> ProviderError:
    """`error` with the command that fetches a missing model."""
    if isinstance(error, errors.ModelNotFoundError):
        missing = _MISSING_MODEL.search(error.message)
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


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`. Only our own message goes out."""
    row = _TABLE.row(error)
    return failure(row.status, {"error": mend(error.message), "code": row.code}, error)
