"""Errors of the API, and of a gateway before it."""

from typing import Any

import pytest

from abstractcore.errors import (
    AccessDeniedError,
    AuthenticationError,
    ContextOverflowError,
    InvalidInputError,
    ModelNotFoundError,
    OverloadedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
)
from tests.providers.formats.gemini_interactions.wire import INTERACTIONS, response

TOO_LONG = "The input token count (1,048,579) exceeds the maximum number of tokens allowed (1,048,576)."


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        (400, "invalid_request", "API key not valid. Please pass a valid API key.", AuthenticationError),
        (404, "not_found", "models/m is not found for API version v1beta", ModelNotFoundError),
        (500, "a_new_code", "no", ServerError),
        (503, "a_new_code", "no", OverloadedError),
        (504, "a_new_code", "no", RequestTimeoutError),
        (403, None, "no", AccessDeniedError),
    ],
)
def test_error_by_code_status_and_message(status: int, code: str | None, message: str, expected: type[Exception]):
    error = INTERACTIONS.error(response({"error": {"code": code, "message": message}}, status))
    assert (type(error), error.message, error.status) == (expected, message, status)


def test_overflow_has_its_counts():
    error = INTERACTIONS.error(response({"error": {"code": "invalid_request", "message": TOO_LONG}}, 400))
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (1048579, 1048576)


def test_request_id_and_wait_are_in_the_headers():
    body = {"error": {"code": "rate_limit_exceeded", "message": "slow down"}}
    error = INTERACTIONS.error(response(body, 429, retry_after="7", x_goog_request_id="r1"))
    assert isinstance(error, RateLimitError)
    assert (error.retry_after, error.request_id) == (7, "r1")


def test_gateway_in_the_form_of_googles_other_apis():
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no", "details": [retry]}}
    error = INTERACTIONS.error(response(body, 429))
    assert (type(error), error.retry_after) == (RateLimitError, 3)


@pytest.mark.parametrize("body", [b"", b"<html>", b'"no"', b"[]", b'{"error": "no"}', b'{"error": {"code": []}}'])
def test_body_without_an_error_has_that_of_its_status(body: Any):
    assert type(INTERACTIONS.error(response(body, 503))) is OverloadedError


def test_error_despite_a_successful_status():
    with pytest.raises(AccessDeniedError, match="no"):
        INTERACTIONS.decode(response({"error": {"code": "permission_denied", "message": "no"}}))


def test_rendered_error_of_a_request_has_its_path():
    rendered = INTERACTIONS.render_error(InvalidInputError("expected text", path="input[0].type"))
    assert (rendered.status, b'"code":"invalid_request"' in rendered.body) == (400, True)
    assert b"expected text (at input[0].type)" in rendered.body
