"""Decoding errors of servers, and rendering errors for clients."""

import json
from typing import Any, get_args

import pytest
from anthropic.types.shared import ErrorType

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConnectionFailedError,
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
    StorageFullError,
    StreamInterruptedError,
    UnsupportedContentError,
)
from abstractcore.testing.strategies import PROVIDER_ERRORS
from tests.providers.formats.anthropic_messages.wire import MESSAGES, response

BAD = "invalid_request_error"


def failed(status: int, type: str, message: str = "what they say", **fields: Any) -> ProviderError:
    """The error for a response with this status and error object."""
    return MESSAGES.error(response({"type": "error", "error": {"type": type, "message": message, **fields}}, status))


@pytest.mark.parametrize(
    ("status", "type", "fields", "expected"),
    [
        (400, BAD, {}, BadRequestError),
        (400, BAD, {"message": "prompt is too long: 210000 tokens > 200000 maximum"}, ContextOverflowError),
        (400, BAD, {"message": "input length and `max_tokens` exceed context limit: 1 + 2 > 2"}, ContextOverflowError),
        (400, BAD, {"message": "Output blocked by content filtering policy"}, ContentFilterError),
        (400, BAD, {"message": "Your credit balance is too low to access the Anthropic API."}, QuotaError),
        (
            400,
            BAD,
            {"message": "You have reached your specified API usage limits. You will regain access on 2026-12-01."},
            QuotaError,
        ),
        (400, BAD, {"details": {"error_code": "organization_on_hold"}}, AccessDeniedError),
        (400, BAD, {"details": {"error_code": "storage_quota_exceeded"}}, StorageFullError),
        (400, BAD, {"details": {"error_code": "request_body_timeout"}}, RequestTimeoutError),
        (400, BAD, {"details": {"error_code": "image_dimensions_too_large"}}, BadRequestError),
        (401, "authentication_error", {}, AuthenticationError),
        (402, "billing_error", {}, QuotaError),
        (403, "permission_error", {}, AccessDeniedError),
        (404, "not_found_error", {}, NotFoundError),
        (404, "not_found_error", {"message": "model: claude-nobody"}, ModelNotFoundError),
        (408, BAD, {}, RequestTimeoutError),
        (409, "conflict_error", {}, OverloadedError),
        (413, "request_too_large", {}, BadRequestError),
        (422, BAD, {}, BadRequestError),
        (429, "rate_limit_error", {}, RateLimitError),
        (429, "rate_limit_error", {"details": {"error_code": "ramp_limit_exceeded"}}, RateLimitError),
        (429, "rate_limit_error", {"details": {"error_code": "contract_spend_limit_reached"}}, QuotaError),
        (500, "api_error", {}, ServerError),
        (502, "", {}, ServerError),
        (503, "", {}, OverloadedError),
        (504, "timeout_error", {}, RequestTimeoutError),
        (529, "overloaded_error", {}, OverloadedError),
        (529, "", {}, OverloadedError),
    ],
)
def test_failure_is_classified_by_cause(status: int, type: str, fields: Any, expected: type[ProviderError]):
    found = failed(status, type, **fields)
    assert found.__class__ is expected
    assert (found.status, found.message) == (status, fields.get("message", "what they say"))


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "the provider answered with status 500"),
        (b"<html>Bad gateway</html>", "the provider answered with status 500"),
        (
            b'{"error": {"message": 5, "type": {}, "details": []}}',
            'the provider answered with status 500: \'{"error": {"message": 5, "type": {}, "details": []}}\'',
        ),
        (b'{"error": "it broke"}', "it broke"),
        (b'{"message": "it broke"}', "it broke"),
        (b'\xef\xbb\xbf{"error": {"message": "it broke \\ud83d"}}', "it broke \ufffd"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, detail: str):
    found = MESSAGES.error(response(body, 500))
    assert (type(found), found.message) == (ServerError, detail)


def test_request_id_is_read_from_header_or_body():
    body = {"type": "error", "error": {"type": "api_error", "message": "m"}, "request_id": "req_body"}
    assert MESSAGES.error(response(body, 500, request_id="req_head")).request_id == "req_head"
    assert MESSAGES.error(response(body, 500)).request_id == "req_body"


def test_error_has_vendor_code_retry_after_and_hint():
    error = MESSAGES.error(response({"error": {"type": "rate_limit_error", "message": "m"}}, 429, retry_after="7"))
    assert (error.code, error.retry_after, error.retryable) == ("rate_limit_error", 7.0, True)
    assert "billing" in (failed(402, "billing_error").hint or "")


def test_overflow_numbers_are_read_and_rendered():
    error = failed(400, BAD, "prompt is too long: 212,345 tokens > 200000 maximum")
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (212_345, 200_000)
    again = MESSAGES.error(MESSAGES.render_error(error))
    assert isinstance(again, ContextOverflowError)
    assert (again.prompt_tokens, again.context_tokens) == (212_345, 200_000)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("overloaded_error", OverloadedError),
        ("timeout_error", RequestTimeoutError),
        ("conflict_error", OverloadedError),
    ],
)
def test_error_with_a_success_status_is_raised(type_: str, expected: type[Exception]):
    """The types are those of the anthropic package (`shared.ErrorType`)."""
    assert type_ in get_args(ErrorType)
    with pytest.raises(expected, match="busy"):
        MESSAGES.decode(response({"type": "error", "error": {"type": type_, "message": "busy"}}))


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"<html>", b'{"content": "text"}'])
def test_body_without_a_reply_is_an_error(body: bytes):
    with pytest.raises(ServerError):
        MESSAGES.decode(response(body))


@pytest.mark.parametrize("kind", PROVIDER_ERRORS)
def test_rendered_error_has_the_vendors_shape(kind: type[ProviderError]):
    rendered = MESSAGES.render_error(kind("what happened", retry_after=1.5))
    body = json.loads(rendered.body)
    assert (body["type"], body["error"]["message"]) == ("error", "what happened")
    assert body["error"]["type"].endswith("_error")
    assert rendered.headers == {"content-type": "application/json", "retry-after": "2", "retry-after-ms": "1500"}


@pytest.mark.parametrize(
    ("error", "status", "type"),
    [
        (InvalidInputError("no", path="messages[0].role"), 400, BAD),
        (UnsupportedContentError("no"), 400, BAD),
        (OverloadedError("no"), 529, "overloaded_error"),
        (RequestTimeoutError("no"), 504, "timeout_error"),
        (ConnectionFailedError("no"), 500, "api_error"),
        (StreamInterruptedError("no"), 500, "api_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int, type: str):
    rendered = MESSAGES.render_error(error)
    assert (rendered.status, json.loads(rendered.body)["error"]["type"]) == (status, type)


def test_hints_are_not_rendered():
    body = MESSAGES.render_error(AuthenticationError("no", hint="Set SOME_KEY.", provider="upstream")).body
    assert b"SOME_KEY" not in body
    assert b"upstream" not in body
