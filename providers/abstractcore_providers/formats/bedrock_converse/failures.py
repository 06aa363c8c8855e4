"""Errors by cause, from what Bedrock says, and back.

Source: the errors of the operations Converse and ConverseStream, and "Troubleshooting Amazon Bedrock API Error Codes".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import to_json

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ContextOverflowError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_rows import CALLERS_FAULT, class_of, complete, status_message
from ...common.json_reading import Object, as_object, count_of, read_answer, text_of
from ...common.retry_waits import wait_headers
from ...common.surrogates import mend

RIGHT_ADDRESS = "Does base_url point at Bedrock's runtime?"
"""What to ask where something else than the API answers."""


@dataclass(frozen=True, slots=True)
class _Row:
    """`words` are what only the message says of an error whose name says less."""

    error: type[ProviderError]
    status: int
    name: str
    words: str = ""


_ROWS = (
    _Row(errors.ContextOverflowError, 400, "ValidationException", "Input is too long for requested model"),
    _Row(errors.ContentFilterError, 400, "ValidationException", "Output blocked by content filtering policy"),
    _Row(errors.ModelNotFoundError, 404, "ResourceNotFoundException"),
    _Row(errors.NotFoundError, 404, "UnknownOperationException"),
    _Row(errors.AuthenticationError, 403, "UnrecognizedClientException"),
    _Row(errors.AuthenticationError, 403, "InvalidSignatureException"),
    _Row(errors.AuthenticationError, 403, "ExpiredTokenException"),
    _Row(errors.AuthenticationError, 403, "MissingAuthenticationTokenException"),
    _Row(errors.AuthenticationError, 403, "MissingAuthenticationToken"),
    _Row(errors.AuthenticationError, 403, "InvalidClientTokenId"),
    _Row(errors.AuthenticationError, 400, "IncompleteSignature"),
    _Row(errors.AuthenticationError, 400, "IncompleteSignatureException"),
    _Row(errors.AuthenticationError, 400, "RequestExpired"),
    _Row(errors.AccessDeniedError, 403, "AccessDeniedException"),
    _Row(errors.AccessDeniedError, 403, "OptInRequired"),
    _Row(errors.AccessDeniedError, 400, "NotAuthorized"),
    _Row(errors.QuotaError, 400, "ServiceQuotaExceededException"),
    _Row(errors.RateLimitError, 429, "ThrottlingException"),
    _Row(errors.OverloadedError, 503, "ServiceUnavailableException"),
    _Row(errors.OverloadedError, 503, "ServiceUnavailable"),
    _Row(errors.OverloadedError, 429, "ModelNotReadyException"),
    _Row(errors.RequestTimeoutError, 408, "ModelTimeoutException"),
    _Row(errors.ServerError, 500, "InternalServerException"),
    _Row(errors.ServerError, 500, "InternalFailure"),
    _Row(errors.ServerError, 424, "ModelErrorException"),
    _Row(errors.ServerError, 424, "ModelStreamErrorException"),
    _Row(errors.BadRequestError, 400, "ValidationException"),
    _Row(errors.BadRequestError, 400, "ValidationError"),
)
"""The first row of a class is how it is rendered."""

_BY_NAME = {row.name: row.error for row in _ROWS if not row.words}
_MODEL_FAILED = frozenset({"ModelErrorException", "ModelStreamErrorException"})
_OF_A_MODEL = frozenset({401, 403, 404, 408, 429, 503, 504, 529})
"""The statuses of a model that failed which say more than that: not 400, since the request was Bedrock's own."""
_NUMBER = r"(\d[\d,]{0,15})"
_COUNTS = (
    re.compile(rf"prompt is too long: (?P<prompt>{_NUMBER}) tokens > (?P<context>{_NUMBER}) maximum", re.ASCII),
    re.compile(
        rf"Max input tokens: (?P<context>{_NUMBER}), request input token count: (?P<prompt>{_NUMBER})", re.ASCII
    ),
)
_NARROWER: tuple[tuple[type[ProviderError], type[ProviderError], re.Pattern[str]], ...] = (
    (
        errors.BadRequestError,
        errors.ContextOverflowError,
        re.compile(r"input is too long|prompt is too long|too many input tokens|exceed context limit", re.IGNORECASE),
    ),
    (errors.BadRequestError, errors.ContentFilterError, re.compile(r"blocked by content filtering policy")),
    (errors.BadRequestError, errors.ModelNotFoundError, re.compile(r"model identifier is invalid", re.IGNORECASE)),
    (errors.AccessDeniedError, errors.AuthenticationError, re.compile(r"API key is valid|bearer token", re.IGNORECASE)),
    (errors.RateLimitError, errors.QuotaError, re.compile(r"per day", re.IGNORECASE)),
)
"""What only the message says: of the first class, and with these words, an error is of the second."""
_HINTS: dict[type[ProviderError], str] = {
    errors.AuthenticationError: "Check AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID, or the profile's keys.",
    errors.AccessDeniedError: "Check that the account may use this model in this region, and the policy of its user.",
    errors.QuotaError: "Ask for a higher quota of the model in Service Quotas.",
    errors.ModelNotFoundError: "Check the model's id, its region, and whether it wants a profile (as 'us.').",
    errors.ContextOverflowError: "Shorten the prompt or the files, or choose a model with a longer context.",
}


def error_of(response: WireResponse) -> ProviderError:
    """The error for a response whose status is no success."""
    try:
        data = as_object(read_answer(response.body))
    except ValueError:
        data = {}
    name = _name_of(data, response.headers)
    error = _make(name, data, response.status, status_message(response))
    error.request_id = response.headers.get("x-amzn-requestid")
    return complete(error, response)


def error_in_stream(name: str, data: Object) -> ProviderError:
    """The error that a message in a stream reports; names begin with a small letter there."""
    return _make(name[:1].upper() + name[1:], data, None, "the provider reported an error in its stream")


def error_in_body(data: Object, headers: Mapping[str, str]) -> ProviderError | None:
    """The error that a whole body reports in spite of its successful status; None if it reports none."""
    name = _name_of(data, headers)
    if not name and _told(data) is None:
        return None
    return _make(name, data, None, "the provider reported an error in its answer")


def _name_of(data: Object, headers: Mapping[str, str]) -> str:
    """The error's name without its namespace, and without the address that may follow."""
    name = headers.get("x-amzn-errortype") or text_of(data, "__type") or text_of(data, "code") or ""
    return name.split(":", 1)[0].rpartition("#")[2]


def _told(data: Object) -> str | None:
    """What is said in words; a gateway before the service may say it under `error`."""
    said = text_of(data, "message") or text_of(data, "Message") or text_of(data, "originalMessage")
    return said or text_of(data, "error") or text_of(as_object(data.get("error")), "message")


def _make(name: str, data: Object, status: int | None, fallback: str) -> ProviderError:
    message = _told(data) or fallback
    error_class = _class_of(name, data, status)
    for broad, narrow, words in _NARROWER:
        if error_class is broad and words.search(message):
            error_class = narrow
    error = error_class(message, status=status, code=name or None, hint=_HINTS.get(error_class))
    if isinstance(error, ContextOverflowError):
        _add_token_counts(error, message)
    return error


def _class_of(name: str, data: Object, status: int | None) -> type[ProviderError]:
    if name in _MODEL_FAILED:
        status = count_of(data, "originalStatusCode")
        return class_of(status) if status in _OF_A_MODEL else errors.ServerError
    return _BY_NAME.get(name) or class_of(status)


def _add_token_counts(error: ContextOverflowError, message: str) -> None:
    for pattern in _COUNTS:
        told = pattern.search(message)
        if told is not None:
            error.prompt_tokens = int(told["prompt"].replace(",", ""))
            error.context_tokens = int(told["context"].replace(",", ""))


def told(error: AbstractCoreError) -> tuple[str, int, Object]:
    """The name, the status and the body that tell a client of `error`. Only our own message goes out."""
    row = _row_of(error)
    message = mend(error.message)
    return row.name, row.status, {"message": f"{row.words}: {message}" if row.words else message}


def render_error(error: AbstractCoreError) -> WireResponse:
    """The response that tells a client of `error`."""
    name, status, body = told(error)
    headers = {"content-type": "application/json", "x-amzn-errortype": name, **wait_headers(error.retry_after)}
    return WireResponse(status, headers, to_json(body))


def _row_of(error: AbstractCoreError) -> _Row:
    if isinstance(error, CALLERS_FAULT):
        return next(row for row in _ROWS if row.error is errors.BadRequestError)
    fallback = _Row(ProviderError, 500, "InternalServerException")
    return next((row for row in _ROWS if isinstance(error, row.error)), fallback)
