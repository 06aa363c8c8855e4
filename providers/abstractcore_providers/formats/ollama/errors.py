"""Errors of servers with this format, read and rendered.

Source: https://docs.ollama.com/api/errors. The vendor's errors have a status and a text; those of AbstractCore's server
also have a `code`, which clients of this format ignore.
"""

from __future__ import annotations

import re

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_table import (
    ErrorPattern,
    ErrorTable,
    ReportedError,
    body_reports_error,
    error_object,
    failure,
    own_rows,
    read_failure,
    reported_in,
)
from ...common.reading import Object, as_object, count_of, mend, text_of

RIGHT_ADDRESS = "Is this the URL of an Ollama server, without a path?"
"""The hint where something other than the API answers."""
_MISSING_MODEL = re.compile(r"""model ["']([^"'\s]{1,200})["'] not found""")
_OVERFLOW = re.compile(
    r"exceeds the available context size|prompt is longer than the context length|input length exceeds the context"
)
_TABLE = ErrorTable(
    own_rows(),
    codes={"exceed_context_size_error": errors.ContextOverflowError},
    narrower=(
        ErrorPattern(_OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError, errors.ServerError)),
        ErrorPattern(_MISSING_MODEL, errors.ModelNotFoundError, (errors.NotFoundError, errors.ServerError)),
        ErrorPattern(re.compile("maximum pending requests exceeded"), errors.OverloadedError),
    ),
    hints={
        errors.AuthenticationError: "Sign in with `ollama signin`, or set OLLAMA_API_KEY, or pass api_key=...",
        errors.QuotaError: "Check the account's plan at ollama.com.",
        errors.ContextOverflowError: "Shorten the prompt, or give create_llm a larger context_size=... (in tokens).",
    },
)
_WHO = "server"


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    reported = _reported(as_object(read_failure(response)))
    return _hinted(_TABLE.of_response(reported, response, response.headers.get("x-request-id"), who=_WHO))


def error_in_answer(data: Object) -> ProviderError:
    """Returns the error that a successful response, or a line of its stream, contains."""
    return _hinted(_TABLE.in_answer(_reported(data), who=_WHO))


def error_in_body(data: Object) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    return error_in_answer(data) if body_reports_error(data) else None


def _reported(data: Object) -> ReportedError:
    body, reported = error_object(data), reported_in(data)
    code = text_of(data, "code") or reported.code or reported.type
    return reported._replace(code=code, counts=(count_of(body, "n_prompt_tokens"), count_of(body, "n_ctx")))


def _hinted(error: ProviderError) -> ProviderError:
    """Returns `error` with the command that downloads a missing model."""
    if isinstance(error, errors.ModelNotFoundError):
        missing = _MISSING_MODEL.search(error.message)
        error.hint = f"Fetch it with `ollama pull {missing[1] if missing else 'NAME'}`."
    return error


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    return failure(row.status, {"error": mend(error.message), "code": row.code}, error)
