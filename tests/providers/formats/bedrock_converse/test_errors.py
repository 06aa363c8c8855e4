"""Decoding errors of Bedrock, and rendering errors for clients."""

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
    InvalidInputError,
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
)
from tests.providers.formats.bedrock_converse.wire import CONVERSE, response

THROTTLING = "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/"


def failed(status: int, name: str | None = None, **body: Any) -> ProviderError:
    headers = {} if name is None else {"x_amzn_errortype": name}
    return CONVERSE.error(response({"message": "what they say", **body}, status, **headers))


@pytest.mark.parametrize(
    ("status", "name", "message", "expected"),
    [
        (400, "ValidationException", "what they say", BadRequestError),
        (400, "ValidationException", "Input is too long for requested model.", ContextOverflowError),
        (400, "ValidationException", "prompt is too long: 9 tokens > 5 maximum", ContextOverflowError),
        (
            400,
            "ValidationException",
            "Too many input tokens. Max input tokens: 5, request input token count: 9",
            ContextOverflowError,
        ),
        (
            400,
            "ValidationException",
            "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            ContextOverflowError,
        ),
        (400, "ValidationException", "Output blocked by content filtering policy", ContentFilterError),
        (400, "ValidationException", "The provided model identifier is invalid.", ModelNotFoundError),
        (400, "ServiceQuotaExceededException", "no", QuotaError),
        (403, "AccessDeniedException", "no", AccessDeniedError),
        (403, "AccessDeniedException", "Please make sure your API Key is valid.", AuthenticationError),
        (403, "AccessDeniedException", "Bearer Token has expired", AuthenticationError),
        (403, "UnrecognizedClientException", "no", AuthenticationError),
        (403, "InvalidSignatureException", "no", AuthenticationError),
        (403, "ExpiredTokenException", "no", AuthenticationError),
        (400, "IncompleteSignature", "no", AuthenticationError),
        (404, "ResourceNotFoundException", "no", ModelNotFoundError),
        (404, "UnknownOperationException", "no", NotFoundError),
        (408, "ModelTimeoutException", "no", RequestTimeoutError),
        (424, "ModelErrorException", "no", ServerError),
        (429, "ThrottlingException", "no", RateLimitError),
        (429, THROTTLING, "no", RateLimitError),
        (429, "com.amazon.bedrock#ThrottlingException", "no", RateLimitError),
        (429, "ThrottlingException", "Too many tokens per day, please wait.", QuotaError),
        (429, "ModelNotReadyException", "no", OverloadedError),
        (500, "InternalServerException", "no", ServerError),
        (503, "ServiceUnavailableException", "no", OverloadedError),
        (418, "NewException", "no", BadRequestError),
        (400, None, "no", BadRequestError),
        (401, None, "no", AuthenticationError),
        (403, None, "no", AccessDeniedError),
        (404, None, "no", NotFoundError),
        (408, None, "no", RequestTimeoutError),
        (413, None, "no", BadRequestError),
        (424, None, "no", ServerError),
        (429, None, "no", RateLimitError),
        (502, None, "no", ServerError),
        (503, None, "no", OverloadedError),
    ],
)
def test_failure_is_classified_by_cause(status: int, name: str | None, message: str, expected: type[ProviderError]):
    found = failed(status, name, message=message)
    assert type(found) is expected
    assert (found.status, found.message) == (status, message)


def test_model_error_keeps_its_own_status():
    assert type(failed(424, "ModelErrorException", originalStatusCode=429)) is RateLimitError
    assert type(failed(424, "ModelErrorException", originalStatusCode=400)) is ServerError


def test_error_name_may_be_in_the_body():
    assert type(failed(400, __type="com.amazon.coral.service#ServiceQuotaExceededException")) is QuotaError


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the provider answered with status 500"),
        (b"<html>Bad gateway</html>", "the provider answered with status 500"),
        (b"[]", "the provider answered with status 500"),
        (b'{"message": 5, "__type": {}}', 'the provider answered with status 500: \'{"message": 5, "__type": {}}\''),
        (b'{"Message": "it broke"}', "it broke"),
        (b'\xef\xbb\xbf{"message": "it broke \\ud83d"}', "it broke \ufffd"),
        (b"[" * 100_000, "the provider answered with status 500"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, message: str):
    found = CONVERSE.error(response(body, 500))
    assert type(found) is ServerError
    assert found.message == message


def test_error_has_vendor_code_request_id_and_retry_after():
    headers = {"x_amzn_errortype": THROTTLING, "x_amzn_requestid": "r1", "retry_after": "3"}
    error = CONVERSE.error(response({"message": "m"}, 429, **headers))
    assert (error.code, error.request_id, error.retry_after) == ("ThrottlingException", "r1", 3.0)
    assert error.retryable


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 130,512 tokens > 128000 maximum",
        "Too many input tokens. Max input tokens: 128000, request input token count: 130512",
    ],
)
def test_overflow_numbers_are_read(message: str):
    error = failed(400, "ValidationException", message=message)
    assert isinstance(error, ContextOverflowError)
    assert (error.prompt_tokens, error.context_tokens) == (130_512, 128_000)


@pytest.mark.parametrize("number", ["9" * 5000, ","])
def test_overflow_without_numbers(number: str):
    error = failed(400, "ValidationException", message=f"prompt is too long: {number} tokens > 1 maximum")
    assert isinstance(error, ContextOverflowError)
    assert error.prompt_tokens is None


@pytest.mark.parametrize(
    ("error", "status", "back"),
    [
        (InvalidInputError("no", path="messages[0].role"), 400, BadRequestError),
        (UnsupportedContentError("no"), 400, BadRequestError),
        (ConnectionFailedError("no"), 500, ServerError),
        (StreamInterruptedError("no"), 500, ServerError),
        (ConfigurationError("no"), 500, ServerError),
        (ContextOverflowError("no"), 400, ContextOverflowError),
        (ContentFilterError("no"), 400, ContentFilterError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int, back: type[ProviderError]):
    rendered = CONVERSE.render_error(error)
    assert rendered.status == status
    assert "no" in json.loads(rendered.body)["message"]
    assert type(CONVERSE.error(rendered)) is back


def test_hints_are_not_rendered():
    error = AuthenticationError("no", hint="Set SOME_KEY.", provider="upstream", model="m", request_id="r")
    assert b"SOME_KEY" not in CONVERSE.render_error(error).body
    assert b"upstream" not in CONVERSE.render_error(error).body


def test_error_with_a_lone_surrogate_can_be_rendered():
    assert CONVERSE.error(CONVERSE.render_error(ServerError("a\ud83d"))).message == "a\ufffd"
