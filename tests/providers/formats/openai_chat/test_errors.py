"""Decoding errors of servers, and rendering errors for clients."""

import json
from typing import Any

import pytest

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContentFilterError,
    ContextOverflowError,
    FallbackExhaustedError,
    InvalidInputError,
    MediaError,
    ModelCrashedError,
    ModelNotFoundError,
    NotFoundError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
    UnsupportedContentError,
    UnsupportedOptionError,
)
from abstractcore.testing.strategies import PROVIDER_ERRORS
from tests.providers.formats.openai_chat.wire import CHAT, faults, response


def failed(status: int, **error: Any) -> ProviderError:
    """The error for a response with this status and error object."""
    body = {
        "error": {"message": "what they say", "param": None, "type": "invalid_request_error", "code": None, **error}
    }
    return CHAT.error(response(body, status))


OVERFLOW = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,512 tokens. "
    "Please reduce the length of the messages."
)
OVERFLOW_ELSEWHERE = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, "
    "1000 in the completion)."
)


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {}, BadRequestError),
        (400, {"code": "context_length_exceeded"}, ContextOverflowError),
        (400, {"type": "exceed_context_size_error", "code": 400}, ContextOverflowError),
        (400, {"message": OVERFLOW_ELSEWHERE, "type": "BadRequestError", "code": 400}, ContextOverflowError),
        (400, {"code": "content_filter"}, ContentFilterError),
        (400, {"code": "content_policy_violation"}, ContentFilterError),
        (401, {"code": "invalid_api_key"}, AuthenticationError),
        (401, {}, AuthenticationError),
        (402, {}, QuotaError),
        (403, {}, AccessDeniedError),
        (403, {"code": "unsupported_country_region_territory"}, AccessDeniedError),
        (404, {"code": "model_not_found"}, ModelNotFoundError),
        (404, {"message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}, ModelNotFoundError),
        (404, {"message": "Invalid URL"}, NotFoundError),
        (405, {}, BadRequestError),
        (408, {}, RequestTimeoutError),
        (409, {}, OverloadedError),
        (413, {}, BadRequestError),
        (422, {}, BadRequestError),
        (429, {"type": "tokens", "code": "rate_limit_exceeded"}, RateLimitError),
        (429, {"type": "requests"}, RateLimitError),
        (429, {"type": "rate_limit_error", "code": "slow_down"}, RateLimitError),
        (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, QuotaError),
        (429, {"type": "insufficient_quota", "code": "credit_balance_exhausted"}, QuotaError),
        (429, {"code": "organization_spend_limit_exceeded"}, QuotaError),
        (429, {"code": "project_spend_limit_exceeded"}, QuotaError),
        (429, {"code": "organization_usage_limit_exceeded"}, QuotaError),
        (500, {"type": "server_error"}, ServerError),
        (502, {}, ServerError),
        (503, {"type": "service_unavailable_error", "code": "server_is_overloaded"}, OverloadedError),
        (503, {"type": "server_error"}, OverloadedError),
        (503, {"type": "unavailable_error", "message": "Loading model", "code": 503}, OverloadedError),
        (504, {}, RequestTimeoutError),
        (529, {"type": "overloaded_error"}, OverloadedError),
    ],
)
def test_failure_is_classified_by_cause(status: int, error: dict[str, Any], expected: type[ProviderError]):
    found = failed(status, **error)
    assert type(found) is expected
    assert found.status == status
    assert found.message == error.get("message", "what they say")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the provider answered with status 500"),
        (b"<html>Bad gateway</html>", "the provider answered with status 500"),
        (b"[]", "the provider answered with status 500"),
        (b'{"error": null}', "the provider answered with status 500: '{\"error\": null}'"),
        (
            b'{"error": {"message": 5, "code": [1], "type": {}}}',
            'the provider answered with status 500: \'{"error": {"message": 5, "code": [1], "type": {}}}\'',
        ),
        (b'{"error": "it broke"}', "it broke"),
        (b'{"message": "it broke"}', "it broke"),
        (b'{"detail": "it broke"}', "it broke"),
        (b'\xef\xbb\xbf{"error": {"message": "it broke \\ud83d"}}', "it broke \ufffd"),
        (b"[" * 100_000, "the provider answered with status 500"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, message: str):
    found = CHAT.error(response(body, 500))
    assert type(found) is ServerError
    assert found.message == message


def test_error_has_vendor_code_and_request_id():
    body = {"error": {"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}}
    error = CHAT.error(response(body, 429, x_request_id="req_1"))
    assert (error.code, error.request_id, error.retryable) == ("rate_limit_exceeded", "req_1", True)
    assert failed(400, type="tokens").code == "tokens"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "20"}, 20.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after_ms": "250", "retry_after": "1"}, 0.25),
        ({"retry_after_ms": "soon", "retry_after": "1"}, 1.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0.0),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "today"}, None),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:30 -0000", "date": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry_after": "soon", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after_ms": "1e999"}, None),
        ({"retry_after": "²"}, None),
        ({"retry_after": ""}, None),
    ],
)
def test_retry_after_in_seconds_milliseconds_and_dates(headers: dict[str, str], seconds: float | None):
    assert CHAT.error(response({}, 429, **headers)).retry_after == seconds


def test_overflow_numbers_are_read_from_the_message():
    for code in ("context_length_exceeded", None):
        error = failed(400, code=code, message=OVERFLOW)
        assert isinstance(error, ContextOverflowError)
        assert (error.prompt_tokens, error.context_tokens) == (130_512, 128_000)
    error = failed(400, message=OVERFLOW_ELSEWHERE)
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (5000, 4096)


def test_overflow_numbers_are_read_from_the_fields_of_llama_cpp():
    error = failed(
        400,
        type="exceed_context_size_error",
        code=400,
        message="request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
        n_prompt_tokens=9412,
        n_ctx=8192,
    )
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (9412, 8192)


@pytest.mark.parametrize(
    "message", ["is , tokens resulted in , tokens", "is " + "9" * 5000 + " tokens resulted in 1 tokens", ""]
)
def test_overflow_without_numbers(message: str):
    error = failed(400, code="context_length_exceeded", message=f"maximum context length {message}")
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (None, None)


@pytest.mark.parametrize("kind", PROVIDER_ERRORS)
def test_rendered_error_matches_the_vendors_schema(kind: type[ProviderError]):
    rendered = CHAT.render_error(kind("what happened", retry_after=1.5))
    assert faults("ErrorResponse", json.loads(rendered.body)) == []
    assert rendered.headers == {"content-type": "application/json", "retry-after": "2", "retry-after-ms": "1500"}
    assert 400 <= rendered.status < 600


@pytest.mark.parametrize(
    ("error", "status", "back"),
    [
        (InvalidInputError("no", path="messages[0].role"), 400, BadRequestError),
        (UnsupportedContentError("no"), 400, BadRequestError),
        (UnsupportedOptionError("no"), 400, BadRequestError),
        (MediaError("no"), 400, BadRequestError),
        (ModelCrashedError("no"), 500, ServerError),
        (ConnectionFailedError("no"), 500, ServerError),
        (StreamInterruptedError("no"), 500, ServerError),
        (ConfigurationError("no"), 500, ServerError),
        (FallbackExhaustedError("no"), 500, ServerError),
        (ContextOverflowError("no"), 400, ContextOverflowError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int, back: type[ProviderError]):
    rendered = CHAT.render_error(error)
    assert rendered.status == status
    assert type(CHAT.error(rendered)) is back


def test_rendered_error_has_the_path():
    body = json.loads(CHAT.render_error(InvalidInputError("unknown role", path="messages[0].role")).body)
    assert body["error"] == {
        "message": "messages[0].role: unknown role",
        "type": "invalid_request_error",
        "param": "messages[0].role",
        "code": None,
    }


def test_hints_are_not_rendered():
    error = AuthenticationError("no", hint="Set SOME_KEY.", provider="upstream", model="m", request_id="r")
    assert b"SOME_KEY" not in CHAT.render_error(error).body
    assert b"upstream" not in CHAT.render_error(error).body


@pytest.mark.parametrize("wait", [float("inf"), float("nan"), -5.0, 1e308, 0.0])
def test_invalid_retry_after_is_ignored(wait: float):
    payload = CHAT.error(CHAT.render_error(RateLimitError("no", retry_after=wait))).retry_after
    assert payload is None or 0 <= payload <= 1e9


def test_error_with_a_lone_surrogate_can_be_rendered():
    assert CHAT.error(CHAT.render_error(ServerError("a\ud83d"))).message == "a\ufffd"


def test_overflow_numbers_are_rendered():
    error = ContextOverflowError("too long")
    error.context_tokens = 8192
    again = CHAT.error(CHAT.render_error(error))
    assert isinstance(again, ContextOverflowError)
    assert (again.prompt_tokens, again.context_tokens) == (None, 8192)
