"""Bedrock's errors, read and rendered.

Source: the errors of the operations Converse and ConverseStream, and "Troubleshooting Amazon Bedrock API Error Codes".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from abstractcore import errors
from abstractcore.errors import AbstractCoreError, ProviderError
from abstractcore.schema import WireResponse

from ...common.error_table import (
    NUMBER,
    SHORTEN,
    ErrorPattern,
    ErrorRow,
    ErrorTable,
    ReportedError,
    body_reports_error,
    class_of,
    failure,
    read_failure,
    reported_in,
)
from ...common.reading import Object, as_object, count_of, mend, text_of

RIGHT_ADDRESS = "Does base_url point to Bedrock's runtime?"
"""The hint where something other than the API answers."""


_BAD_REQUEST = "ValidationException"
_MODEL_FAILED = frozenset({"ModelErrorException", "ModelStreamErrorException"})
_OF_A_MODEL = frozenset({401, 403, 404, 408, 429, 503, 504, 529})
"""Statuses of a failed model that are specific: not 400, since Bedrock made that request."""
_COUNTS = (
    re.compile(rf"prompt is too long: (?P<prompt>{NUMBER}) tokens > (?P<context>{NUMBER}) maximum", re.ASCII),
    re.compile(rf"Max input tokens: (?P<context>{NUMBER}), request input token count: (?P<prompt>{NUMBER})", re.ASCII),
)
_OVERFLOW = re.compile(
    r"input is too long|prompt is too long|too many input tokens|exceed context limit", re.IGNORECASE
)
_FILTERED = re.compile(r"blocked by content filtering policy")
_WRONG_MODEL = re.compile(r"model identifier is invalid", re.IGNORECASE)
_WRONG_KEY = re.compile(r"API key is valid|bearer token", re.IGNORECASE)
_CHECK_ACCOUNT = "Check that the account may use this model in this region, and the policy of its user."
_TABLE = ErrorTable(
    (
        ErrorRow(errors.ContextOverflowError, 400, _BAD_REQUEST, words="Input is too long for requested model"),
        ErrorRow(errors.ContentFilterError, 400, _BAD_REQUEST, words="Output blocked by content filtering policy"),
        ErrorRow(errors.ModelNotFoundError, 404, "ResourceNotFoundException"),
        ErrorRow(errors.NotFoundError, 404, "UnknownOperationException"),
        ErrorRow(errors.AuthenticationError, 403, "UnrecognizedClientException"),
        ErrorRow(errors.AuthenticationError, 403, "InvalidSignatureException"),
        ErrorRow(errors.AuthenticationError, 403, "ExpiredTokenException"),
        ErrorRow(errors.AuthenticationError, 403, "MissingAuthenticationTokenException"),
        ErrorRow(errors.AuthenticationError, 403, "MissingAuthenticationToken"),
        ErrorRow(errors.AuthenticationError, 403, "InvalidClientTokenId"),
        ErrorRow(errors.AuthenticationError, 400, "IncompleteSignature"),
        ErrorRow(errors.AuthenticationError, 400, "IncompleteSignatureException"),
        ErrorRow(errors.AuthenticationError, 400, "RequestExpired"),
        ErrorRow(errors.AccessDeniedError, 403, "AccessDeniedException"),
        ErrorRow(errors.AccessDeniedError, 403, "OptInRequired"),
        ErrorRow(errors.AccessDeniedError, 400, "NotAuthorized"),
        ErrorRow(errors.QuotaError, 400, "ServiceQuotaExceededException"),
        ErrorRow(errors.RateLimitError, 429, "ThrottlingException"),
        ErrorRow(errors.OverloadedError, 503, "ServiceUnavailableException"),
        ErrorRow(errors.OverloadedError, 503, "ServiceUnavailable"),
        ErrorRow(errors.OverloadedError, 429, "ModelNotReadyException"),
        ErrorRow(errors.RequestTimeoutError, 408, "ModelTimeoutException"),
        ErrorRow(errors.ServerError, 500, "InternalServerException"),
        ErrorRow(errors.ServerError, 500, "InternalFailure"),
        ErrorRow(errors.ServerError, 424, "ModelErrorException"),
        ErrorRow(errors.ServerError, 424, "ModelStreamErrorException"),
        ErrorRow(errors.BadRequestError, 400, _BAD_REQUEST),
        ErrorRow(errors.BadRequestError, 400, "ValidationError"),
    ),
    narrower=(
        ErrorPattern(_OVERFLOW, errors.ContextOverflowError, (errors.BadRequestError,)),
        ErrorPattern(_FILTERED, errors.ContentFilterError, (errors.BadRequestError,)),
        ErrorPattern(_WRONG_MODEL, errors.ModelNotFoundError, (errors.BadRequestError,)),
        ErrorPattern(_WRONG_KEY, errors.AuthenticationError, (errors.AccessDeniedError,)),
        ErrorPattern(re.compile(r"per day", re.IGNORECASE), errors.QuotaError, (errors.RateLimitError,)),
    ),
    counts=_COUNTS,
    hints={
        errors.AuthenticationError: "Check AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID, or the profile's keys.",
        errors.AccessDeniedError: _CHECK_ACCOUNT,
        errors.QuotaError: "Ask for a higher quota of the model in Service Quotas.",
        errors.ModelNotFoundError: "Check the model's id, its region, and whether it wants a profile (as 'us.').",
        errors.ContextOverflowError: SHORTEN,
    },
)


def error_of(response: WireResponse) -> ProviderError:
    """Returns the error of a response with an error status."""
    data = as_object(read_failure(response))
    reported = _reported(_name_of(data, response.headers), data)
    return _TABLE.of_response(reported, response, response.headers.get("x-amzn-requestid"))


def error_in_stream(name: str, data: Object) -> ProviderError:
    """Returns the error that a message in a stream contains; its name is in lower camel case there."""
    reported = _reported(name[:1].upper() + name[1:], data)
    return _TABLE.in_answer(reported)


def error_in_body(data: Object, headers: Mapping[str, str]) -> ProviderError | None:
    """Returns the error that a body contains despite its successful status; None if there is none."""
    name = _name_of(data, headers)
    return _TABLE.in_answer(_reported(name, data)) if name or body_reports_error(data) else None


def _name_of(data: Object, headers: Mapping[str, str]) -> str:
    """Returns the error's name without its namespace, and without the URL that may follow."""
    name = headers.get("x-amzn-errortype") or text_of(data, "__type") or text_of(data, "code") or ""
    return name.split(":", 1)[0].rpartition("#")[2]


def _reported(name: str, data: Object) -> ReportedError:
    reported = reported_in(data)
    if name in _MODEL_FAILED:
        status = count_of(data, "originalStatusCode")
        reported = reported._replace(known=class_of(status) if status in _OF_A_MODEL else errors.ServerError)
    return reported._replace(code=None, type=name) if name else reported


def rendered(error: AbstractCoreError) -> tuple[str, int, Object]:
    """Returns the name, the status and the body that render `error`. Only AbstractCore's own message is sent."""
    row = _TABLE.row(error)
    message = mend(error.message)
    return row.type, row.status, {"message": f"{row.words}: {message}" if row.words else message}


def render_error(error: AbstractCoreError) -> WireResponse:
    """Renders `error` as a response."""
    name, status, body = rendered(error)
    return failure(status, body, error, **{"x-amzn-errortype": name})
