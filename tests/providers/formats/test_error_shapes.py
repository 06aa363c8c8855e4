"""Errors in every shape that servers and gateways send, in every place where a format may meet them.

Sources: vLLM's `ErrorResponse` (vllm/entrypoints/openai/protocol.py), FastAPI's `RequestValidationError`, Mistral's
`HTTPValidationError` (`mistralai.models`), text-generation-inference's `ErrorResponse`, Cloudflare's API ("Responses"),
MiniMax's error codes (https://platform.minimax.io/docs/api-reference/errorcode), Apigee's "Fault" reference, RFC 6749
(5.2), RFC 9457, OpenRouter's "Errors" (https://openrouter.ai/docs/api-reference/errors).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from abstractcore import errors
from abstractcore.errors import ProviderError, StreamInterruptedError, UnexpectedResponseError
from abstractcore.ports import Transpiler
from abstractcore.schema import ModelReply, WireResponse, accumulate
from abstractcore.schema.wire import error_message
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.formats.openai_chat import wire as chat
from tests.providers.published import decoded, frames_of
from tests.providers.wire_streams import SPEECH, in_bytes

SAID = "the frobnicator is on fire"
_PLACED = [{"type": "missing", "loc": ["body", "messages", 0], "msg": SAID, "input": {}}]
SHAPES: Mapping[str, Any] = {
    "OpenAI": {"error": {"message": SAID, "type": "invalid_request_error", "param": None, "code": None}},
    "Anthropic": {"type": "error", "error": {"type": "api_error", "message": SAID}, "request_id": "r"},
    "Google": {"error": {"code": 400, "message": SAID, "status": "INVALID_ARGUMENT"}},
    "Amazon": {"Message": SAID, "__type": "com.amazon#ValidationException"},
    "Cohere": {"message": SAID, "id": "1"},
    "Ollama": {"error": SAID},
    "vLLM": {"object": "error", "message": SAID, "type": "BadRequestError", "param": None, "code": 400},
    "FastAPI": {"detail": SAID},
    "FastAPI, invalid": {"detail": _PLACED},
    "FastAPI, an object": {"detail": {"error": {"message": SAID, "code": "x"}}},
    "Mistral": {"object": "error", "message": {"detail": _PLACED}, "type": "invalid_request_error", "code": None},
    "a code": {"message": SAID, "code": 429},
    "a code in text": {"message": SAID, "code": "overloaded"},
    "text-generation-inference": {"error": SAID, "error_type": "overloaded"},
    "a type": {"error_type": "validation", "message": SAID},
    "Cloudflare": {"success": False, "errors": [{"code": 10000, "message": SAID}], "messages": [], "result": None},
    "a list of texts": {"errors": [SAID]},
    "Hugging Face": {"error": [SAID], "warnings": []},
    "Apigee": {"fault": {"faultstring": SAID, "detail": {"errorcode": "policies.ratelimit.QuotaViolation"}}},
    "MiniMax": {"id": "1", "choices": None, "base_resp": {"status_code": 1004, "status_msg": SAID}},
    "OAuth": {"error": "invalid_client", "error_description": SAID},
    "NestJS": {"statusCode": 401, "message": SAID, "error": "Unauthorized"},
    "RFC 9457": {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": SAID},
    "OpenRouter": {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps({"detail": SAID})}}
    },
    "JSON in a text": {"error": json.dumps({"error": {"message": SAID, "type": "x"}})},
    "an inner error": {"error": {"error": {"message": SAID}}},
}


def error_of_status(status: int) -> Callable[[str, bytes], ProviderError]:
    def read(format: str, body: bytes) -> ProviderError:
        return FORMATS[format]().error(WireResponse(status, {"content-type": "application/json"}, body))

    return read


def error_of_success(format: str, body: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        FORMATS[format]().decode(WireResponse(200, {"content-type": "application/json"}, body))
    return caught.value


def error_of_stream(transpiler: Transpiler, stream: bytes) -> ProviderError:
    """The error of a stream at each of whose bytes the network splits."""
    with pytest.raises(ProviderError) as caught:
        list(decoded(transpiler, frames_of(transpiler, [stream[at : at + 1] for at in range(len(stream))])))
    return caught.value


def as_events(format: str, body: bytes) -> bytes:
    if format == "bedrock_converse":
        return in_bytes(format, [{"failure": json.loads(body)}])
    return body + b"\n" if format == "ollama" else b"data: " + body + b"\n\n"


def begun(format: str) -> bytes:
    speech = SPEECH[format]
    return in_bytes(format, [*speech.begin, *speech.text(["Hello"])]).replace(b"data: [DONE]\n\n", b"")


def error_of_first_event(format: str, body: bytes) -> ProviderError:
    return error_of_stream(FORMATS[format](), as_events(format, body))


def error_of_later_event(format: str, body: bytes) -> ProviderError:
    return error_of_stream(FORMATS[format](), begun(format) + as_events(format, body))


def error_of_bare_line(format: str, body: bytes) -> ProviderError:
    return error_of_stream(FORMATS[format](), begun(format) + body + b"\n\n")


def error_of_bare_end(format: str, body: bytes) -> ProviderError:
    return error_of_stream(FORMATS[format](), begun(format) + body)


PLACES: Mapping[str, Callable[[str, bytes], ProviderError]] = {
    "status 400": error_of_status(400),
    "status 500": error_of_status(500),
    "status 200": error_of_success,
    "first event": error_of_first_event,
    "later event": error_of_later_event,
    "bare line": error_of_bare_line,
    "bare line at the end": error_of_bare_end,
}


def test_every_shape_of_error_is_typed_with_its_message_in_every_place():
    walked = 0
    for format in FORMATS:
        for place, read in PLACES.items():
            if format == "bedrock_converse" and place.startswith("bare"):
                continue  # its streams are binary: bare JSON can only be a whole body
            for shape, body in SHAPES.items():
                error = read(format, json.dumps(body).encode())
                assert SAID in error.message, (format, place, shape, error)
                assert not isinstance(error, StreamInterruptedError | UnexpectedResponseError), (format, place, shape)
                walked += 1
    assert walked == len(SHAPES) * (len(FORMATS) * len(PLACES) - 2) == 26 * 54 == 1404


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_shapes_show_what_the_server_said(format):
    """Failed responses and successful ones, and an event after which the stream ends."""
    body = json.dumps({"oops": {"why": SAID}}).encode()
    for place in ("status 400", "status 500", "status 200", "first event", "later event"):
        assert SAID in PLACES[place](format, body).message, place


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("vLLM", errors.BadRequestError),
        ("a code", errors.RateLimitError),
        ("MiniMax", errors.AuthenticationError),
        ("NestJS", errors.AuthenticationError),
        ("RFC 9457", errors.AccessDeniedError),
    ],
)
def test_status_in_a_body_is_its_class(shape, expected):
    body = json.dumps(SHAPES[shape]).encode()
    for format in FORMATS:
        for place in ("status 200", "first event", "later event"):
            assert type(PLACES[place](format, body)) is expected, (format, place)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (SHAPES["FastAPI, invalid"], f"body.messages.0: {SAID}"),
        (SHAPES["Mistral"], f"body.messages.0: {SAID}"),
        (SHAPES["OAuth"], f"invalid_client: {SAID}"),
        (SHAPES["RFC 9457"], f"Forbidden: {SAID}"),
        (SHAPES["OpenRouter"], f"Provider returned error: {SAID}"),
        ({"errors": [{"message": "one"}, {"message": "two"}, {"message": "one"}]}, "one; two"),
        ({"message": "invalid", "errors": [{"message": "one"}, {"message": "two"}]}, "invalid: one; two"),
        ({"error": True, "message": "one"}, "one"),
        ({"error": "one", "message": "one more"}, "one more"),
        ({"error": "{}"}, "{}"),
        ({"error": {"message": " "}}, None),
        ({"base_resp": {"status_code": 0, "status_msg": "success"}}, None),
        ({"message": {"role": "assistant", "content": "hi"}, "model": "m"}, None),
        ([], None),
        (None, None),
    ],
)
def test_message_is_found_in_nested_shapes(body, message):
    assert error_message(body) == message


def test_deep_nesting_ends():
    deep: Any = SAID
    for _ in range(90):
        deep = {"error": deep}
    assert error_message(deep) is None


# Choices


def chat_reply(**fields: Any) -> bytes:
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **fields.pop("choice", {})}
    return json.dumps({"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], **fields}).encode()


def test_error_of_a_choice_is_typed_and_keeps_what_arrived():
    """OpenRouter's: `choices[0].error`, with the finish reason "error"."""
    for failed in ({"code": 429, "message": SAID}, SAID):
        choice = {"finish_reason": "error", "error": failed}
        error = error_of_success("openai_chat", chat_reply(choice=choice))
        assert SAID in error.message
        assert error.partial is not None
        assert error.partial.text == "Hello"
        event = json.dumps({**chat.chunk(), "choices": [{"index": 0, "delta": {"content": ""}, **choice}]}).encode()
        streamed = error_of_later_event("openai_chat", event)
        assert (type(streamed), streamed.message) == (type(error), error.message)
    assert type(error_of_success("openai_chat", chat_reply(choice={"error": {"code": 429}}))) is errors.RateLimitError


def minimax(code: int) -> dict[str, Any]:
    return {"base_resp": {"status_code": code, "status_msg": SAID if code else ""}}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (1000, errors.ServerError),
        (1002, errors.RateLimitError),
        (1008, errors.QuotaError),
        (1027, errors.ContentFilterError),
        (2013, errors.BadRequestError),
        (2049, errors.AuthenticationError),
    ],
)
def test_minimax_reports_errors_with_status_200_beside_choices(code, expected):
    for error in (
        error_of_success("openai_chat", chat_reply(**minimax(code))),
        error_of_later_event("openai_chat", json.dumps({**chat.chunk("stop"), **minimax(code)}).encode()),
    ):
        assert (type(error), error.message, error.code) == (expected, SAID, str(code))


def test_minimax_code_0_is_no_error():
    reply = FORMATS["openai_chat"]().decode(WireResponse(200, {}, chat_reply(**minimax(0))))
    assert reply.text == "Hello"
    transpiler = FORMATS["openai_chat"]()
    event = b"data: " + json.dumps({**chat.chunk("stop"), **minimax(0)}).encode() + b"\n\n"
    streamed: ModelReply = accumulate(list(decoded(transpiler, frames_of(transpiler, [begun("openai_chat") + event]))))
    assert streamed.text == "Hello"
