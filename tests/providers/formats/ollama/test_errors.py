"""Decoding errors of servers, and rendering errors for clients."""

import json

import pytest

from abstractcore.errors import (
    AbstractCoreError,
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
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
from tests.providers.formats.ollama.wire import OLLAMA, response


@pytest.mark.parametrize(
    ("status", "detail", "expected"),
    [
        (400, "registry.ollama.ai/library/llama2 does not support tools", BadRequestError),
        (400, "the input length exceeds the context length", ContextOverflowError),
        (400, "the prompt is longer than the context length currently available to the model", ContextOverflowError),
        (500, "the input length exceeds the context length", ContextOverflowError),
        (401, "unauthorized", AuthenticationError),
        (402, "upgrade for more usage", QuotaError),
        (403, "cloud models are disabled", AccessDeniedError),
        (404, 'model "x" not found, try pulling it first', ModelNotFoundError),
        (404, "model 'x:7b' not found", ModelNotFoundError),
        (404, "404 page not found", NotFoundError),
        (408, "timeout", RequestTimeoutError),
        (413, "the input length exceeds the context length", ContextOverflowError),
        (422, "no", BadRequestError),
        (429, "rate limit exceeded", RateLimitError),
        (500, "model requires more system memory (8.1 GiB) than is available (7.3 GiB)", ServerError),
        (502, "upstream", ServerError),
        (503, "server busy, please try again.  maximum pending requests exceeded", OverloadedError),
        (500, "server busy, please try again.  maximum pending requests exceeded", OverloadedError),
    ],
)
def test_failure_is_classified_by_cause(status: int, detail: str, expected: type[ProviderError]):
    error = OLLAMA.error(response({"error": detail}, status, x_request_id="r1"))
    assert type(error) is expected
    assert (error.status, error.message, error.request_id) == (status, detail, "r1")


def test_missing_model_hints_at_ollama_pull():
    error = OLLAMA.error(response({"error": 'model "qwen3:8b" not found, try pulling it first'}, 404))
    assert "`ollama pull qwen3:8b`" in (error.hint or "")


def test_overflow_numbers_are_read_from_the_nested_error():
    inner = {"message": "request (8889 tokens) exceeds the available context size (4096 tokens)"}
    inner |= {"type": "exceed_context_size_error", "n_prompt_tokens": 8889, "n_ctx": 4096}
    for detail in (json.dumps({"error": inner}), {**inner}):
        error = OLLAMA.error(response({"error": detail}, 400))
        assert isinstance(error, ContextOverflowError)
        assert (error.prompt_tokens, error.context_tokens) == (8889, 4096)
        assert error.message == inner["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the server answered with status 500"),
        (b"<html>", "the server answered with status 500"),
        (b"[]", "the server answered with status 500"),
        (b'{"error": 5}', "the server answered with status 500: '{\"error\": 5}'"),
        (b'{"error": "{broken"}', "{broken"),
        (b'{"error": "{}"}', "{}"),
        (b'{"error": {"message": "it broke"}}', "it broke"),
        (b"[" * 100_000, "the server answered with status 500"),
    ],
)
def test_error_body_of_any_shape_keeps_its_message(body: bytes, message: str):
    error = OLLAMA.error(response(body, 500))
    assert (type(error), error.message) == (ServerError, message)


def test_redirect_has_a_hint():
    error = OLLAMA.error(response(b"", 301))
    assert type(error) is BadRequestError
    assert "base_url" in (error.hint or "")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInputError("no", path="messages[0].role"), 400),
        (UnsupportedContentError("no"), 400),
        (ConnectionFailedError("no"), 500),
        (ConfigurationError("no"), 500),
        (RateLimitError("no", retry_after=1.5), 429),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_rendered_error_is_a_client_or_server_error(error: AbstractCoreError, status: int):
    rendered = OLLAMA.render_error(error)
    assert rendered.status == status
    assert json.loads(rendered.body)["error"] == error.message
    assert OLLAMA.error(rendered).retry_after == error.retry_after


def test_hints_are_not_rendered():
    assert b"secret" not in OLLAMA.render_error(AuthenticationError("no", hint="secret", provider="secret")).body
