"""`generate`, sync and async: the request, the response, and failures."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass, replace
from typing import Any

import pytest

from abstractcore import (
    AccessDeniedError,
    AuthenticationError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextOverflowError,
    InvalidInputError,
    Message,
    ModelNotFoundError,
    ModelReply,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitError,
    ScriptExhaustedError,
    ServerError,
    Services,
    TextPart,
    ToolSpec,
    UnknownOptionError,
    UnsupportedOptionError,
    create_llm,
)
from abstractcore.registry import Registry
from abstractcore.schema import WireResponse
from abstractcore_providers.scripted import ScriptedProvider
from abstractcore_providers.scripted.canonical_json import CanonicalJson
from tests.chaos_server import CUT, answer, completion, completion_body, failure


def texts(call) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in call.messages]


def test_generate_returns_answer_usage_cost_and_attempts(call_style, server, connect):
    server.script(completion("hello", headers={"x_request_id": "r-1"}))
    response = call_style.generate(connect(), "hi")
    assert (response.content, str(response), response.finish_reason) == ("hello", "hello", "stop")
    assert (response.provider, response.model, response.reply.id) == ("openai-compatible", "m-1", "chat-1")
    assert (response.usage.input, response.usage.output, response.usage.total) == (3, 2, 5)
    assert (response.cost, response.output, response.media, response.warnings) == (None, None, (), ())
    (attempt,) = response.attempts
    assert (attempt.number, attempt.status, attempt.request_id, attempt.error) == (1, 200, "r-1", None)
    assert len(response.trace_id) == 32
    assert response.seconds >= attempt.seconds > 0


@pytest.mark.parametrize("header", ["x-request-id", "request-id", "x-amzn-requestid"])
def test_attempt_record_has_the_vendors_request_id(call_style, server, connect, header):
    server.script(completion(headers={header: "r-7"}))
    assert [attempt.request_id for attempt in call_style.generate(connect(), "hi").attempts] == ["r-7"]


def test_time_and_trace_id_come_from_the_services(call_style, server, connect, services):
    services.clock.time_of_day, services.new_id = (lambda: 12.5), (lambda: "f" * 32)
    server.script(completion())
    response = call_style.generate(connect(), "hi")
    assert response.attempts[0].started_at == 12.5
    assert response.trace_id == "f" * 32


def test_request_has_key_model_and_messages(call_style, server, connect):
    server.script(completion())
    call_style.generate(connect(api_key="k-1"), "hi", temperature=0.5, tags={"secret": "tag"}, parent_id="p-1")
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer k-1"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["user-agent"].startswith("abstractcore/")
    assert request.json == {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5}


def test_conversation_is_system_prompt_then_messages_then_prompt(call_style):
    llm = create_llm("scripted", replies=["a"])
    history = [{"role": "user", "content": "one"}, Message.assistant("two")]
    call_style.generate(llm, "three", messages=history, system_prompt="zero")
    assert texts(llm.calls[0]) == [("system", "zero"), ("user", "one"), ("assistant", "two"), ("user", "three")]


def test_messages_without_prompt_are_enough(call_style):
    llm = create_llm("scripted", replies=["a"])
    call_style.generate(llm, messages=[{"role": "user", "content": "one"}])
    assert texts(llm.calls[0]) == [("user", "one")]


def test_build_returns_the_call_that_generate_makes(call_style):
    llm = create_llm("scripted", replies=["a"], temperature=0.5)
    request: dict[str, Any] = {"system_prompt": "s", "seed": 3, "tags": {"a": "b"}}
    call_style.generate(llm, "hi", **request)
    assert llm.build("hi", **request) == llm.calls[0]


def test_call_option_overrides_llm_default_and_none_resets_it(call_style):
    llm = create_llm("scripted", replies=["a", "b", "c"], temperature=0.5, seed=1)
    call_style.generate(llm, "hi")
    call_style.generate(llm, "hi", temperature=1.0, options={"seed": 2})
    call_style.generate(llm, "hi", temperature=None)
    assert [(call.sampling.temperature, call.sampling.seed) for call in llm.calls] == [(0.5, 1), (1.0, 2), (None, 1)]


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({}, "messages"),
        ({"prompt": " "}, "prompt"),
        ({"prompt": 3}, "prompt"),
        ({"prompt": "hi\udc80"}, "prompt"),
        ({"prompt": "hi", "system_prompt": ""}, "system_prompt"),
        ({"prompt": "hi", "system_prompt": "a", "messages": [Message.system("b")]}, "system_prompt"),
        ({"prompt": "hi", "messages": "hello"}, "messages"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "user", "text": "b"}]}, "messages[1]"),
        ({"messages": [{"role": "robot", "content": "a"}]}, "messages[0].role"),
        ({"prompt": "hi", "tools": [3]}, "tools[0]"),
        ({"prompt": "hi", "tools": [ToolSpec("a"), ToolSpec("a")]}, "tools[1].name"),
        ({"prompt": "hi", "media": 3}, "media"),
        ({"prompt": "hi", "media": [3]}, "media[0]"),
        ({"prompt": "hi", "tool_choice": "maybe"}, "tool_choice"),
        ({"prompt": "hi", "temperature": "hot"}, "temperature"),
        ({"prompt": "hi", "temperature": float("nan")}, "temperature"),
        ({"prompt": "hi", "max_output_tokens": 0}, "max_output_tokens"),
        ({"prompt": "hi", "stop": ""}, "stop"),
        ({"prompt": "hi", "media_policy": {"smell": "auto"}}, "media_policy"),
        ({"prompt": "hi", "media_policy": "maybe"}, "media_policy"),
        ({"prompt": "hi", "tags": {"a": object()}}, "tags.a"),
        ({"prompt": "hi", "timeout": "5"}, "timeout"),
        ({"prompt": "hi", "timeout": float("nan")}, "timeout"),
        ({"prompt": "hi", "timeout": 0}, "timeout"),
        ({"prompt": "hi", "timeout": True}, "timeout"),
    ],
)
def test_invalid_argument_is_refused_with_its_path_before_sending(call_style, request_, path):
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(InvalidInputError) as caught:
        call_style.generate(llm, **request_)
    assert caught.value.path == path
    assert list(llm.calls) == []


def test_misspelt_option_suggests_the_closest_name(call_style):
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(UnknownOptionError, match="max_output_tokens"):
        call_style.generate(llm, "hi", max_output_token=3)
    with pytest.raises(UnknownOptionError, match="temperature"):
        call_style.generate(llm, "hi", options={"temprature": 1})
    assert list(llm.calls) == []


def test_closed_llm_refuses_calls(call_style):
    with create_llm("scripted", replies=["never"]) as llm:
        pass
    for call in (call_style.generate, call_style.stream):
        with pytest.raises(ConfigurationError, match="closed"):
            call(llm, "hi")


def test_calls_are_recorded_by_scripted_models_only(connect):
    with pytest.raises(ConfigurationError, match="only scripted models"):
        _ = connect().calls


def test_unsupported_option_is_a_warning(call_style, server, connect):
    server.script(completion())
    (warning,) = call_style.generate(connect(), "hi", top_k=3).warnings
    assert (warning.code, warning.path, warning.requested, warning.sent) == (
        "unsupported_option",
        "sampling.top_k",
        3,
        None,
    )


def test_unsupported_option_in_strict_mode_is_an_error_before_sending(call_style, server, connect):
    with pytest.raises(UnsupportedOptionError, match="top_k"):
        call_style.generate(connect(), "hi", top_k=3, strict=True)
    assert server.requests == []


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {}, BadRequestError),
        (400, {"code": "context_length_exceeded"}, ContextOverflowError),
        (401, {}, AuthenticationError),
        (402, {}, QuotaError),
        (403, {}, AccessDeniedError),
        (404, {"code": "model_not_found"}, ModelNotFoundError),
        (418, {}, BadRequestError),
        (429, {}, RateLimitError),
        (429, {"code": "insufficient_quota"}, QuotaError),
        (500, {}, ServerError),
        (529, {}, OverloadedError),
    ],
)
def test_failure_is_a_typed_located_error(call_style, server, connect, status, error, expected):
    server.script(failure(status, "no such luck", error=error, x_request_id="r-7"))
    with pytest.raises(expected, match="no such luck") as caught:
        call_style.generate(connect(max_retries=0), "hi")
    found = caught.value
    assert type(found) is expected
    assert (found.provider, found.model, found.status, found.request_id) == ("openai-compatible", "m", status, "r-7")
    assert [attempt.error for attempt in found.attempts] == [expected.__name__]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([answer("<html>hello</html>", content_type="text/html")], ServerError),
        ([answer(b"")], ServerError),
        ([answer(b"", 204)], ServerError),
        ([answer({"object": "chat.completion"})], ServerError),
        ([answer(b"\x1f\x8bnot gzip", content_encoding="gzip")], ServerError),
        ([answer(b"x" * 50, length=100), CUT], ConnectionFailedError),
        ([b"\x00\x01\x02 garbage\r\n\r\n", CUT], ConnectionFailedError),
        ([b"HTTP/1.1 200 OK\r\ncontent-le", CUT], ConnectionFailedError),
        ([CUT], ConnectionFailedError),
    ],
    ids=["html", "empty", "no-content", "no-choices", "bad-gzip", "cut-body", "garbage", "cut-head", "no-head"],
)
def test_invalid_response_is_a_typed_error_and_its_connection_is_not_reused(
    call_style, server, connect, steps, expected
):
    llm = connect(max_retries=0)
    server.script(*steps)
    server.script(completion("whole"))
    with pytest.raises(expected) as caught:
        call_style.generate(llm, "hi")
    assert (caught.value.provider, caught.value.model) == ("openai-compatible", "m")
    assert call_style.generate(llm, "again").content == "whole"


def test_html_with_status_200_hints_at_base_url(call_style, server, connect):
    server.script(answer("<!doctype html>", content_type="text/html"))
    with pytest.raises(ServerError, match="base_url"):
        call_style.generate(connect(max_retries=0), "hi")


def test_compressed_response_is_read(call_style, server, connect):
    packed = gzip.compress(answer(completion_body("packed")).split(b"\r\n\r\n", 1)[1])
    server.script(answer(packed, content_encoding="gzip"))
    assert call_style.generate(connect(), "hi").content == "packed"


def test_body_over_the_limit_is_refused(call_style, server, connect, monkeypatch):
    monkeypatch.setattr("abstractcore.engine.response_reading.MAX_BODY_BYTES", 1000)
    server.script(answer(b"x" * 5000))
    with pytest.raises(ServerError, match="longer than 1,000 bytes"):
        call_style.generate(connect(max_retries=0), "hi")


class Nonsense(ScriptedProvider):
    """A server whose replies do not fit the schema."""

    def connect(self, config, services):
        class Transpiler(CanonicalJson):
            def decode(self, response):
                body = b'{"schema_version": 1, "type": "model_reply", "parts": 3}'
                return super().decode(WireResponse(200, {}, body))

        return replace(super().connect(config, services), transpiler=Transpiler())


def test_reply_that_violates_the_schema_is_a_server_error(call_style):
    registry = Registry()
    registry.add_provider(Nonsense("nonsense"))
    services = Services(registry=registry, environment={})
    llm = create_llm("nonsense", services=services, max_retries=0, replies=["a"])
    with pytest.raises(ServerError, match="does not match the schema: parts") as caught:
        call_style.generate(llm, "hi")
    assert caught.value.provider == "nonsense"


def test_scripted_replies_may_be_strings_replies_errors_and_functions(call_style):
    reply = ModelReply((TextPart("two"),), "length")
    failing = ProviderError("three")
    llm = create_llm("scripted", replies=["one", reply, failing, lambda call: call.messages[-1].text.upper()])
    assert call_style.generate(llm, "a").content == "one"
    assert call_style.generate(llm, "b").reply == reply
    with pytest.raises(ProviderError, match="three") as caught:
        call_style.generate(llm, "c")
    assert caught.value is failing
    assert call_style.generate(llm, "four").content == "FOUR"
    with pytest.raises(ScriptExhaustedError, match="4 replies, but this is call 5"):
        call_style.generate(llm, "e")
    assert [call.messages[-1].text for call in llm.calls] == ["a", "b", "c", "four", "e"]


def test_generate_with_stream_true_equals_stream():
    llm = create_llm("scripted", replies=["one two"])
    with llm.generate("hi", stream=True) as stream:
        assert list(stream.text()) == ["one", " two"]
    assert stream.response.content == "one two"


def test_agenerate_with_stream_true_equals_astream():
    @dataclass
    class City:
        name: str

    async def streamed() -> None:
        llm = create_llm("scripted", replies=['{"name": "Ulm"}', "one two"])
        async with await llm.agenerate("hi", stream=True, response_model=City) as stream:
            assert "".join([text async for text in stream.text()]) == '{"name": "Ulm"}'
        assert stream.response.output == City("Ulm")
        assert [call.stream for call in llm.calls] == [True]
        assert (await llm.agenerate("hi", stream=False)).content == "one two"

    asyncio.run(streamed())
