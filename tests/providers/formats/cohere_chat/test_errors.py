"""Decoding errors of the vendor, and rendering errors for clients."""

import json

import pytest

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ContentFilterError,
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
)
from tests.providers.formats.cohere_chat.wire import COHERE, response

TOO_LONG = "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (400, "invalid request: list of documents must not be empty", BadRequestError),
        (400, TOO_LONG, ContextOverflowError),
        (400, "too many tokens: size limit exceeded by 11326 tokens.", ContextOverflowError),
        (400, "too many tokens: max tokens must be less than or equal to 4096", BadRequestError),
        (401, "invalid api token", AuthenticationError),
        (402, "Please add or update your payment method", QuotaError),
        (403, "no", AccessDeniedError),
        (404, "model 'x' not found, make sure the correct model ID was used", ModelNotFoundError),
        (404, "no such route", NotFoundError),
        (408, "no", RequestTimeoutError),
        (422, "no", BadRequestError),
        (429, "trial token rate limit exceeded, limit is 100 api calls per minute", RateLimitError),
        (429, "You are using a Trial key, which is limited to 1000 API calls / month.", QuotaError),
        (498, "no", ContentFilterError),
        (499, "request cancelled", ServerError),
        (500, "internal server error", ServerError),
        (501, "no", ServerError),
        (503, "no", OverloadedError),
        (504, "no", RequestTimeoutError),
    ],
)
def test_failure_is_classified_by_cause(status: int, detail: str, expected: type[ProviderError]):
    error = COHERE.error(response({"message": detail}, status, x_debug_trace_id="t1"))
    assert type(error) is expected
    assert (error.status, error.message, error.request_id) == (status, detail, "t1")


def test_overflow_numbers_are_read_from_the_message():
    error = COHERE.error(response({"message": TOO_LONG, "id": "i1"}, 400))
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens, error.request_id) == (4292, 4081, "i1")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the provider answered with status 500"),
        (b"<html>", "the provider answered with status 500"),
        (b"[]", "the provider answered with status 500"),
        (b'{"message": 5}', "the provider answered with status 500: '{\"message\": 5}'"),
        (b'{"error": {"message": "it broke"}}', "it broke"),
        (b'{"error": "it broke"}', "it broke"),
        (b"[" * 100_000, "the provider answered with status 500"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, message: str):
    error = COHERE.error(response(body, 500))
    assert (type(error), error.message) == (ServerError, message)


def test_redirect_has_a_hint():
    assert "base_url" in (COHERE.error(response(b"", 308)).hint or "")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInputError("no", path="messages[0].role"), 400),
        (ConfigurationError("no"), 500),
        (RateLimitError("no", retry_after=1.5), 429),
        (ContentFilterError("no"), 498),
        (RequestTimeoutError("no"), 504),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int):
    rendered = COHERE.render_error(error)
    assert rendered.status == status
    assert json.loads(rendered.body)["message"] == error.message
    assert COHERE.error(rendered).retry_after == error.retry_after


def test_error_with_a_success_status_is_raised():
    with pytest.raises(ServerError, match="it broke"):
        COHERE.decode(response({"finish_reason": "ERROR", "message": {"role": "assistant"}, "error": "it broke"}))
    with pytest.raises(ServerError, match=r"^it broke$"):
        COHERE.decode(response({"message": "it broke"}))
    with pytest.raises(ServerError, match="has no message"):
        COHERE.decode(response({"id": "r"}))
    with pytest.raises(ServerError, match="not JSON"):
        COHERE.decode(response(b"<html>"))
