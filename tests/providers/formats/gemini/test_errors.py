"""Decoding errors of servers, and rendering errors for clients."""

import json
from typing import Any

import pytest
from google.genai import errors as theirs

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConnectionFailedError,
    ContextOverflowError,
    InvalidInputError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnsupportedContentError,
)
from abstractcore.testing.strategies import PROVIDER_ERRORS
from tests.providers.formats.gemini.wire import GEMINI, response

TYPE = "type.googleapis.com/google.rpc."


def failed(http: int, status: str | None = None, message: str = "what they say", *details: Any) -> ProviderError:
    error = {"code": http, "message": message, "status": status, "details": list(details)}
    return GEMINI.error(response({"error": error}, http))


@pytest.mark.parametrize(
    ("http", "status", "message", "expected"),
    [
        (400, "INVALID_ARGUMENT", "what they say", BadRequestError),
        (400, "FAILED_PRECONDITION", "what they say", AccessDeniedError),
        (400, "OUT_OF_RANGE", "what they say", BadRequestError),
        (401, "UNAUTHENTICATED", "what they say", AuthenticationError),
        (403, "PERMISSION_DENIED", "what they say", AccessDeniedError),
        (404, "NOT_FOUND", "what they say", NotFoundError),
        (404, "NOT_FOUND", "models/x is not found for API version v1beta", ModelNotFoundError),
        (404, "NOT_FOUND", "Publisher Model `projects/p/x` was not found", ModelNotFoundError),
        (409, "ABORTED", "what they say", OverloadedError),
        (429, "RESOURCE_EXHAUSTED", "what they say", RateLimitError),
        (499, "CANCELLED", "what they say", BadRequestError),
        (500, "INTERNAL", "what they say", ServerError),
        (501, "UNIMPLEMENTED", "what they say", BadRequestError),
        (503, "UNAVAILABLE", "what they say", OverloadedError),
        (504, "DEADLINE_EXCEEDED", "what they say", RequestTimeoutError),
        (408, None, "what they say", RequestTimeoutError),
        (502, None, "what they say", ServerError),
        (413, None, "what they say", BadRequestError),
    ],
)
def test_failure_is_classified_by_cause(http: int, status: str | None, message: str, expected: type[ProviderError]):
    found = failed(http, status, message)
    assert type(found) is expected
    assert (found.status, found.message, found.code) == (http, message, status)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("API_KEY_INVALID", AuthenticationError),
        ("ACCESS_TOKEN_EXPIRED", AuthenticationError),
        ("BILLING_DISABLED", QuotaError),
        ("RATE_LIMIT_EXCEEDED", RateLimitError),
        ("SERVICE_DISABLED", AccessDeniedError),
    ],
)
def test_error_reason_precedes_the_status(reason: str, expected: type[ProviderError]):
    found = failed(403, "PERMISSION_DENIED", "m", {"@type": f"{TYPE}ErrorInfo", "reason": reason})
    assert type(found) is expected
    assert found.code == reason


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the provider answered with status 500"),
        (b"<html>Bad gateway</html>", "the provider answered with status 500"),
        (b"[]", "the provider answered with status 500"),
        (b'{"error": null}', "the provider answered with status 500: '{\"error\": null}'"),
        (
            b'{"error": {"message": 5, "details": {}, "status": []}}',
            'the provider answered with status 500: \'{"error": {"message": 5, "details": {}, "status": []}}\'',
        ),
        (b'{"error": "it broke"}', "it broke"),
        (b'[{"error": {"message": "it broke"}}]', "it broke"),
        (b"[" * 100_000, "the provider answered with status 500"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, message: str):
    found = GEMINI.error(response(body, 500))
    assert type(found) is ServerError
    assert found.message == message


@pytest.mark.parametrize(
    ("delay", "header", "seconds"),
    [
        ("34.5s", None, 34.5),
        ("34s", "60", 34.0),
        (None, "60", 60.0),
        ("soon", "60", 60.0),
        ("-1s", None, None),
        ("nans", None, None),
        ("s", None, None),
        (5, None, None),
    ],
)
def test_retry_after_is_read_from_details_or_headers(delay: Any, header: str | None, seconds: float | None):
    details = [] if delay is None else [{"@type": f"{TYPE}RetryInfo", "retryDelay": delay}]
    headers = {} if header is None else {"retry_after": header}
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}
    assert GEMINI.error(response(body, 429, **headers)).retry_after == seconds


def test_request_id_is_kept():
    info = {"@type": f"{TYPE}RequestInfo", "requestId": "r1"}
    assert failed(500, "INTERNAL", "m", info).request_id == "r1"
    assert GEMINI.error(response({}, 500, x_goog_request_id="r2")).request_id == "r2"


@pytest.mark.parametrize(
    "message",
    [
        "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
        "input token count is 1200000 but model only supports up to 1048576",
    ],
)
def test_overflow_numbers_are_read_from_the_message(message: str):
    error = failed(400, "INVALID_ARGUMENT", message)
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (1_200_000, 1_048_576)
    assert (again := GEMINI.error(GEMINI.render_error(error))).message == message
    assert isinstance(again, ContextOverflowError)
    assert again.prompt_tokens == 1_200_000


def test_overflow_numbers_are_read_from_other_messages():
    error = ContextOverflowError("too long")
    error.prompt_tokens, error.context_tokens = 9, 5
    again = GEMINI.error(GEMINI.render_error(error))
    assert isinstance(again, ContextOverflowError)
    assert (again.prompt_tokens, again.context_tokens) == (9, 5)


@pytest.mark.parametrize("kind", PROVIDER_ERRORS)
def test_rendered_error_is_read_by_the_vendors_client(kind: type[ProviderError]):
    rendered = GEMINI.render_error(kind("what happened", retry_after=1.5))
    body = json.loads(rendered.body)
    error = theirs.APIError(rendered.status, body)
    assert (error.message, error.code) == ("what happened", rendered.status)
    assert {"@type": f"{TYPE}RetryInfo", "retryDelay": "1.500s"} in body["error"]["details"]
    assert rendered.headers == {"content-type": "application/json", "retry-after": "2"}


@pytest.mark.parametrize(
    ("error", "status", "back"),
    [
        (InvalidInputError("no", path="contents[0].role"), 400, BadRequestError),
        (UnsupportedContentError("no"), 400, BadRequestError),
        (ConnectionFailedError("no"), 500, ServerError),
        (AuthenticationError("a\ud83d", hint="Set SOME_KEY."), 401, AuthenticationError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int, back: type[ProviderError]):
    rendered = GEMINI.render_error(error)
    assert rendered.status == status
    assert b"SOME_KEY" not in rendered.body
    assert type(GEMINI.error(rendered)) is back
