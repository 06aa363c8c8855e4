"""An error of each kind arrives as each client's own exception, before a stream and within one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, cast

import anthropic
import cohere
import ollama
import openai
import pytest
from anthropic._exceptions import GatewayTimeoutError, OverloadedError, PaymentRequiredError
from cohere.core.api_error import ApiError
from google import genai
from google.genai import errors as google
from google.genai import types

from abstractcore import errors
from abstractcore.testing import ScriptedReply
from tests.server.serving import Served

REASON = "the reason"
HI: list[Any] = [{"role": "user", "content": "hi"}]
Expected = tuple[type[Exception], type[Exception], tuple[type[Exception], int], type[Exception], int]
INVALID: Expected = (
    openai.BadRequestError,
    anthropic.BadRequestError,
    (google.ClientError, 400),
    cohere.BadRequestError,
    400,
)
NOT_FOUND: Expected = (
    openai.NotFoundError,
    anthropic.NotFoundError,
    (google.ClientError, 404),
    cohere.NotFoundError,
    404,
)
USED_UP: Expected = (openai.RateLimitError, PaymentRequiredError, (google.ClientError, 429), ApiError, 402)
FAILED: Expected = (
    openai.InternalServerError,
    anthropic.InternalServerError,
    (google.ServerError, 500),
    cohere.InternalServerError,
    500,
)
KINDS: dict[type[errors.AbstractCoreError], Expected] = {
    errors.InvalidInputError: INVALID,
    errors.UnsupportedOptionError: INVALID,
    errors.UnsupportedContentError: INVALID,
    errors.MediaError: INVALID,
    errors.BadRequestError: INVALID,
    errors.ContextOverflowError: INVALID,
    errors.ContentFilterError: (*INVALID[:3], cohere.InvalidTokenError, 400),
    errors.AuthenticationError: (
        openai.AuthenticationError,
        anthropic.AuthenticationError,
        (google.ClientError, 401),
        cohere.UnauthorizedError,
        401,
    ),
    errors.AccessDeniedError: (
        openai.PermissionDeniedError,
        anthropic.PermissionDeniedError,
        (google.ClientError, 403),
        cohere.ForbiddenError,
        403,
    ),
    errors.NotFoundError: NOT_FOUND,
    errors.ModelNotFoundError: NOT_FOUND,
    errors.RateLimitError: (
        openai.RateLimitError,
        anthropic.RateLimitError,
        (google.ClientError, 429),
        cohere.TooManyRequestsError,
        429,
    ),
    errors.QuotaError: USED_UP,
    errors.StorageFullError: USED_UP,
    errors.OverloadedError: (
        openai.InternalServerError,
        OverloadedError,
        (google.ServerError, 503),
        cohere.ServiceUnavailableError,
        503,
    ),
    errors.RequestTimeoutError: (
        openai.APIStatusError,
        GatewayTimeoutError,
        (google.ServerError, 504),
        cohere.GatewayTimeoutError,
        408,
    ),
    errors.ServerError: FAILED,
    errors.BackendError: FAILED,
    errors.UnexpectedResponseError: FAILED,
    errors.ConnectionFailedError: FAILED,
    errors.StreamInterruptedError: FAILED,
    errors.OutputValidationError: FAILED,
}
"""For each error the exceptions of OpenAI, Anthropic, Google with its code, and Cohere; and the status at Ollama."""
of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@dataclass(frozen=True, slots=True)
class Clients:
    """The clients of all APIs, and how each asks."""

    openai: Any
    anthropic: Any
    google: Any
    cohere: Any
    ollama: Any

    def ask_chat(self, stream: Any) -> Any:
        return self.openai.chat.completions.create(model="scripted", messages=HI, stream=stream)

    def ask_responses(self, stream: Any) -> Any:
        return self.openai.responses.create(model="scripted", input="hi", stream=stream)

    def ask_anthropic(self, stream: Any) -> Any:
        return self.anthropic.messages.create(model="scripted", messages=HI, max_tokens=9, stream=stream)

    def ask_google(self, stream: Any) -> Any:
        models = self.google.models
        ask = models.generate_content_stream if stream else models.generate_content
        return ask(model="scripted", contents="hi")

    def ask_cohere(self, stream: Any) -> Any:
        ask = self.cohere.chat_stream if stream else self.cohere.chat
        return ask(model="scripted", messages=HI, request_options={"max_retries": 0})

    def ask_ollama(self, stream: Any) -> Any:
        return self.ollama.chat(model="scripted", messages=HI, stream=stream)


@pytest.fixture(scope="module")
def clients(running: Served) -> Iterator[Clients]:
    with ExitStack() as open_ones:
        yield Clients(
            open_ones.enter_context(openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0)),
            open_ones.enter_context(anthropic.Anthropic(base_url=running.url, api_key="none", max_retries=0)),
            open_ones.enter_context(genai.Client(api_key="none", http_options=types.HttpOptions(base_url=running.url))),
            open_ones.enter_context(cohere.ClientV2(api_key="none", base_url=running.url)),
            open_ones.enter_context(closing(ollama.Client(host=running.url))),
        )


def read(answer: Any) -> None:
    """Reads a whole answer, or a stream to its end."""
    if isinstance(answer, Iterable):
        list(cast("Iterable[Any]", answer))


@of_each_kind
@pytest.mark.parametrize("stream", [False, True])
def test_refused_call(served: Served, clients: Clients, kind: type[errors.AbstractCoreError], stream: bool):
    of_openai, of_anthropic, (of_google, code), of_cohere, status = KINDS[kind]
    served.script(*(kind(REASON) for _ in range(6)))
    with pytest.raises(of_openai, match=REASON):
        read(clients.ask_chat(stream))
    with pytest.raises(of_openai, match=REASON):
        read(clients.ask_responses(stream))
    with pytest.raises(of_anthropic, match=REASON):
        read(clients.ask_anthropic(stream))
    with pytest.raises(of_google, match=REASON) as at_google:
        read(clients.ask_google(stream))
    assert cast("Any", at_google.value).code == code
    with pytest.raises(of_cohere, match=REASON):
        read(clients.ask_cohere(stream))
    with pytest.raises(ollama.ResponseError, match=REASON) as at_ollama:
        read(clients.ask_ollama(stream))
    assert at_ollama.value.status_code == status


@of_each_kind
def test_stream_that_breaks_off(served: Served, clients: Clients, kind: type[errors.AbstractCoreError]):
    _, _, (of_google, _), _, _ = KINDS[kind]
    served.script(*(ScriptedReply.chunks(["Bon", "jour"], then=kind(REASON)) for _ in range(6)))
    with pytest.raises(openai.APIError, match=REASON):
        read(clients.ask_chat(True))
    with pytest.raises(anthropic.APIStatusError, match=REASON):
        read(clients.ask_anthropic(True))
    with pytest.raises(google.ServerError if kind in INTERRUPTED else of_google, match=REASON):
        read(clients.ask_google(True))
    with pytest.raises(ollama.ResponseError, match=REASON):
        read(clients.ask_ollama(True))
    last: Any = list(clients.ask_responses(True))[-1]  # these two clients have no exception within a stream
    assert (last.type, REASON in last.message) == ("error", True)
    last = list(clients.ask_cohere(True))[-1]
    assert (last.delta.finish_reason, REASON in last.delta.error) == ("ERROR", True)


INTERRUPTED = (errors.RequestTimeoutError, errors.ConnectionFailedError)
"""Errors that interrupt a stream, which has one of its own then."""
