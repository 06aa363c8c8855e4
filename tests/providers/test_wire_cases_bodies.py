"""Bodies of another kind than requested, end to end, sync and async, streamed and not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import (
    ContextOverflowError,
    QuotaError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
    ToolCall,
    UnexpectedResponseError,
    Usage,
)
from abstractcore.engine import response_reading
from abstractcore.engine.response_reading import name_request
from abstractcore.errors import ProviderError
from abstractcore.schema import ModelReply, ReasoningPart, TextPart, WireRequest, WireResponse
from abstractcore.testing.strategies import PROVIDER_ERRORS
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import LAST_CHUNK, answer, chunk
from tests.providers.operations import operations_of
from tests.providers.published import provider_of
from tests.providers.wire_streams import INPUT, OUTPUT, SPEECH, in_bytes, reply_to, text_of

every_format = pytest.mark.parametrize("format", FORMATS)
either_way = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
PAGE = '<!DOCTYPE html>\n<html><head><title>Sign in to the network</title></head><body>"data: {}"</body></html>'
TYPES = ["application/json", "text/event-stream", "text/plain; charset=utf-8", None]


def ask(call_style: Any, llm: Any, stream: bool) -> ModelReply:
    return reply_to(call_style, llm) if stream else call_style.generate(llm, "hi").reply


def sent(body: bytes | str | dict[str, Any], content_type: str | None) -> bytes:
    """A whole response with this content type, or without any."""
    whole = answer(body, content_type=content_type or "NONE")
    return whole if content_type else whole.replace(b"content-type: NONE\r\n", b"")


def body_of(format: str) -> tuple[bytes, ModelReply]:
    """A complete reply of the format, and its text."""
    transpiler, provider = FORMATS[format](), provider_of(format)
    parts = (ReasoningPart("Hm.", "c2ln"), TextPart("Let me see."), ToolCall("call_1", "f", '{"a":1.10}'))
    reply = ModelReply(parts, "tool_calls", usage=Usage(INPUT, OUTPUT), model="m", provider=provider)
    body = transpiler.render(reply).body
    return body, transpiler.decode(WireResponse(200, {}, body))


# A document where a stream was asked for


@every_format
@pytest.mark.parametrize("spread", [False, True], ids=["one line", "many lines"])
def test_document_response_to_a_streamed_call_is_streamed(call_style, server, llm_of, format, spread):
    body, expected = body_of(format)
    llm = llm_of(format)
    for content_type in TYPES:
        server.script(sent(json.dumps(json.loads(body), indent=2) if spread else body, content_type))
        stream = call_style.stream(llm, "hi")
        assert list(stream)
        reply = stream.response.reply
        assert (reply.text, reply.finish_reason, reply.usage) == (expected.text, expected.finish_reason, expected.usage)
        assert reply.tool_calls[0].arguments == {"a": 1.10}
        assert stream.response.usage == expected.usage
    assert len(server.requests) == len(TYPES)


@every_format
@either_way
def test_error_object_with_status_200_is_a_typed_error(call_style, server, llm_of, format, stream):
    rendered = FORMATS[format]().render_error(QuotaError("what they say"))
    headers = {name.replace("-", "_"): value for name, value in rendered.headers.items()}
    server.script(answer(rendered.body, **headers))
    with pytest.raises(QuotaError, match="what they say"):
        ask(call_style, llm_of(format), stream)


@every_format
@pytest.mark.parametrize("error_class", PROVIDER_ERRORS)
def test_error_object_reads_the_same_with_status_200(format, error_class):
    """Class and message are those of the same body with its own status."""
    transpiler = FORMATS[format]()
    rendered = transpiler.render_error(error_class("what they say"))
    read = transpiler.error(rendered)
    with pytest.raises(ProviderError) as caught:
        transpiler.decode(replace(rendered, status=200))
    assert (type(caught.value), caught.value.message) == (type(read), read.message)
    if "count_tokens" in operations_of(transpiler):
        with pytest.raises(error_class, match="what they say"):
            transpiler.operations["count_tokens"].decode(replace(rendered, status=200), None)


ODD_ERRORS: dict[str, tuple[str, dict[str, Any], type[ProviderError]]] = {
    "a text": ("openai_chat", {"error": "no capacity"}, ServerError),
    "no error field": ("openai_chat", {"object": "error", "message": "too fast", "code": 429}, RateLimitError),
    "a router's status": ("openai_chat", {"error": {"message": "too fast", "code": 429}}, RateLimitError),
    "with empty choices": ("openai_chat", {"choices": [], "error": {"message": "no", "code": 502}}, ServerError),
    "a detail": ("openai_responses", {"detail": "no such thing"}, ServerError),
    "a gateway's words": ("anthropic_messages", {"message": "no upstream"}, ServerError),
    "amazon's name": (
        "bedrock_converse",
        {"__type": "com.amazon#ThrottlingException", "Message": "too fast"},
        RateLimitError,
    ),
    "a gateway before amazon": ("bedrock_converse", {"error": {"message": "no upstream"}}, ServerError),
    "google's list": ("gemini", [{"error": {"code": 429, "message": "too fast", "status": "X"}}], RateLimitError),
    "cohere's words": ("cohere_chat", {"message": "too many tokens: size limit exceeded"}, ContextOverflowError),
}


@either_way
@pytest.mark.parametrize("case", ODD_ERRORS)
def test_unusual_error_object_with_status_200_keeps_its_message(call_style, server, llm_of, case, stream):
    format, body, error_class = ODD_ERRORS[case]
    server.script(answer(json.dumps(body)))
    with pytest.raises(error_class) as caught:
        ask(call_style, llm_of(format, max_retries=0), stream)
    assert any(caught.value.message in said for said in texts_in(body))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inside for text in texts_in(item)]


# What is neither


@every_format
@either_way
def test_web_page_is_an_error_with_the_requested_url_and_is_not_retried(call_style, server, llm_of, format, stream):
    llm = llm_of(format)
    for content_type in ("text/html; charset=utf-8", "application/json", "text/event-stream"):
        server.script(answer(PAGE, content_type=content_type))
        with pytest.raises(UnexpectedResponseError) as caught:
            ask(call_style, llm, stream)
        error = caught.value
        assert not error.retryable
        assert len(error.attempts) == 1
        asked = server.requests[-1].target.partition("?")[0]
        assert (error.url, error.content_type, error.status) == (server.url + asked, content_type, 200)
        for quoted in (f"POST {error.url}", content_type, "<!DOCTYPE html> <html><head>"):
            assert quoted in str(error)
        assert "open the URL in a browser" in error.hint
    assert len(server.requests) == 3


@every_format
@either_way
def test_plain_text_is_an_error_that_quotes_it_and_is_not_retried(call_style, server, llm_of, format, stream):
    server.script(answer("It works!", content_type="text/plain"))
    with pytest.raises(UnexpectedResponseError, match="text/plain, it begins with 'It works!'"):
        ask(call_style, llm_of(format), stream)


@every_format
@either_way
@pytest.mark.parametrize("body", ['{"ok": true}', '\n {"status": "ok", "data": {"choices": []}}', '["ok"]', "[1]"])
def test_json_that_is_not_a_reply_is_an_error_that_quotes_it_and_is_not_retried(
    call_style, server, llm_of, format, stream, body
):
    server.script(sent(body, "application/json"))
    llm = llm_of(format, max_retries=3)
    if format == "ollama" and stream and "{" in body:
        with pytest.raises(StreamInterruptedError):  # its streams begin with an object too
            ask(call_style, llm, stream)
        return
    with pytest.raises(UnexpectedResponseError, match=r"it is the JSON .*ok|it is the JSON '\[1\]'") as caught:
        ask(call_style, llm, stream)
    assert not caught.value.retryable
    assert len(server.requests) == 1
    assert caught.value.content_type == "application/json"
    assert caught.value.url is not None
    assert caught.value.url.startswith(server.url)


CUT_REPLIES = {
    "anthropic_messages": {"content": None, "stop_reason": "end_turn"},
    "bedrock_converse": {"stopReason": "end_turn", "usage": {}},
    "cohere_chat": {"id": "1", "finish_reason": "COMPLETE"},
    "gemini": {"usageMetadata": {"promptTokenCount": 1}},
    "gemini_interactions": {"id": "v1", "usage": {"total_input_tokens": 1}},
    "ollama": {"model": "m", "done": True},
    "openai_chat": {"object": "chat.completion", "choices": []},
    "openai_responses": {"object": "response", "output": None},
}


@every_format
def test_reply_without_its_content_is_retried(format):
    with pytest.raises(ServerError, match="the response has no") as caught:
        FORMATS[format]().decode(WireResponse(200, {}, json.dumps(CUT_REPLIES[format]).encode()))
    assert caught.value.retryable


def test_empty_object_is_an_empty_gemini_reply():
    with pytest.raises(ServerError, match="has no candidates") as caught:
        FORMATS["gemini"]().decode(WireResponse(200, {}, b"{}"))
    assert caught.value.retryable


def test_secrets_in_a_url_are_not_shown():
    error = UnexpectedResponseError("no")
    name_request(error, WireRequest("https://user:secret@host:1/v1/models?key=secret#secret", {}, b""))
    assert (error.url, str(error)) == ("https://host:1/v1/models", "no, in answer to POST https://host:1/v1/models")


@every_format
def test_web_page_instead_of_a_token_count_is_the_same_error(format):
    transpiler = FORMATS[format]()
    if "count_tokens" in operations_of(transpiler):
        with pytest.raises(UnexpectedResponseError):
            transpiler.operations["count_tokens"].decode(WireResponse(200, {}, PAGE.encode()), None)


# A stream with another content type, and one that was not asked for


@every_format
@either_way
def test_stream_with_a_wrong_content_type_is_read(call_style, server, llm_of, format, stream):
    """Streamed or not: some servers stream even if no stream was requested."""
    body, llm = in_bytes(format, text_of(format, "Hel", "lo")), llm_of(format)
    for content_type in ("text/event-stream", "text/plain", "application/json", "text/html", None):
        server.script(sent(body, content_type))
        reply = ask(call_style, llm, stream)
        assert (reply.text, reply.finish_reason) == ("Hello", "stop")
        assert (reply.usage.input, reply.usage.output) == (INPUT, OUTPUT)


@every_format
def test_stream_with_an_unlikely_content_type_is_read_as_it_arrives(call_style, server, llm_of, format):
    """Byte by byte, and not only at its end."""
    frames = text_of(format, "Hel", "lo")
    stream = in_bytes(format, frames)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    server.script(head + b"".join(chunk(stream[i : i + 1]) for i in range(len(stream))) + LAST_CHUNK)
    stream = call_style.stream(llm_of(format), "hi")
    assert len(list(stream)) > 3
    assert stream.response.content == "Hello"


@pytest.mark.parametrize(
    "content_type",
    [
        "Text/Event-Stream ; charset=utf-8",
        "application/x-ndjson",
        "application/jsonl",
        "application/vnd.amazon.eventstream",
    ],
)
def test_ambiguous_body_is_a_stream_if_its_content_type_says_so(call_style, server, llm_of, content_type):
    """As a stream that begins with a field which the standard does not have."""
    body = b"version: 2\n\n" + in_bytes("openai_chat", text_of("openai_chat", "Hel", "lo"))
    llm = llm_of("openai_chat")
    server.script(sent(body, content_type))
    assert reply_to(call_style, llm).text == "Hello"
    server.script(sent(body, "text/plain"))
    with pytest.raises(UnexpectedResponseError, match="version: 2"):
        reply_to(call_style, llm)


@every_format
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/x-ndjson"])
def test_document_after_empty_lines_is_detected(call_style, server, llm_of, format, content_type):
    body, expected = body_of(format)
    server.script(sent(b"\r\n \n" + json.dumps(json.loads(body), indent=2).encode(), content_type))
    assert reply_to(call_style, llm_of(format)).text == expected.text


def test_json_array_is_a_document_whatever_its_content_type(call_style, server, llm_of):
    body = json.dumps([{"error": {"code": 429, "message": "too fast", "status": "X"}}])
    server.script(sent(body, "text/event-stream"))
    with pytest.raises(RateLimitError, match="too fast"):
        reply_to(call_style, llm_of("gemini", max_retries=0))


def test_body_that_never_starts_is_an_error_at_the_limit(call_style, server, llm_of, monkeypatch):
    monkeypatch.setattr(response_reading, "MAX_BODY_BYTES", 1000)
    server.script(sent(b" " * 5000, "text/event-stream"))
    with pytest.raises(ServerError, match="longer than 1,000 bytes"):
        reply_to(call_style, llm_of("openai_chat", max_retries=0))


def test_unrequested_stream_of_one_event_is_read(call_style, server, llm_of):
    body, expected = body_of("gemini")
    server.script(answer(b"data: " + body + b"\n\n"))
    assert call_style.generate(llm_of("gemini"), "hi").content == expected.text


@pytest.mark.parametrize("format", ["anthropic_messages", "openai_chat", "openai_responses", "ollama"])
def test_unrequested_stream_ends_at_its_end_event(call_style, server, llm_of, format):
    """Later data is ignored, as in a requested stream."""
    server.script(answer(in_bytes(format, text_of(format, "Hel", "lo")) + b"data: no JSON\n\n"))
    assert call_style.generate(llm_of(format, max_retries=0), "hi").content == "Hello"


def test_last_line_of_an_unrequested_stream_needs_no_line_end(call_style, server, llm_of):
    server.script(answer(in_bytes("ollama", text_of("ollama", "Hel", "lo")).rstrip()))
    assert call_style.generate(llm_of("ollama", max_retries=0), "hi").content == "Hello"


def test_one_line_document_without_an_answer_is_not_an_empty_stream(call_style, server, llm_of):
    server.script(answer(b'{"model": "m", "done": true, "done_reason": "stop"}'))
    with pytest.raises(ServerError):
        call_style.generate(llm_of("ollama", max_retries=0), "hi")


@every_format
def test_error_in_an_unrequested_stream_is_typed_with_the_partial_reply(call_style, server, llm_of, format):
    speech = SPEECH[format]
    server.script(answer(in_bytes(format, [*speech.begin, *speech.text(["Hello"]), speech.error])))
    with pytest.raises(ProviderError, match="busy") as caught:
        call_style.generate(llm_of(format, max_retries=0), "hi")
    assert caught.value.partial.text == "Hello"


@every_format
def test_truncated_unrequested_stream_is_an_interruption(call_style, server, llm_of, format):
    server.script(answer(in_bytes(format, text_of(format, "Hello", "you", reason=None, counted=False))))
    with pytest.raises(StreamInterruptedError) as caught:
        call_style.generate(llm_of(format), "hi")
    assert caught.value.partial.text == "Helloyou"
